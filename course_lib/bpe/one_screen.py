"""Byte-pair encoding on one screen: train, encode, decode. Nothing here is fast.

Karpathy's minbpe is as short. Its `BasicTokenizer` leaves out the split into words, and
both of its tokenizers leave out a rule for ties: of pairs that are equally frequent,
the one that was counted first is merged.
"""

from collections import Counter
from itertools import pairwise

import regex

from course_lib.bpe.spelling import BYTE_ORDER, GPT2_PATTERN


class OneScreenBPE:
    """A tokenizer learned from a text: 256 bytes, and a new id for each merge."""

    def __init__(self, text, vocab_size):
        """Train, until there are `vocab_size` ids, or no pair occurs twice."""
        # Begin with one id for each byte, and note what each id spells.
        self.token_bytes = [bytes([byte]) for byte in BYTE_ORDER]
        self.merges = {}  # a pair of ids -> its new id, in the order of learning
        # Spell each different word once, and count how often it occurs.
        words = Counter(tuple(self.byte_ids(word)) for word in self.split(text))
        while len(self.token_bytes) < vocab_size:
            # Count how often each pair stands side by side.
            counts = count_pairs(words)
            most = max(counts.values(), default=0)  # 0 if no pair is left
            if most < 2:  # what occurs only once would save one token, for one id
                break
            # Of the most frequent pairs, take the one with the smallest ids.
            pair = min(pair for pair in counts if counts[pair] == most)
            # Give it the next free id, which spells what the two spell.
            (left, right), new_id = pair, len(self.token_bytes)
            self.merges[pair] = new_id
            self.token_bytes.append(self.token_bytes[left] + self.token_bytes[right])
            # Put the new id wherever the pair stands.
            words = {merge_pair(ids, pair, new_id): n for ids, n in words.items()}

    def encode(self, text):
        """Merge known pairs in each word, always the one that was learned first."""
        encoded = []
        for word in self.split(text):
            ids = tuple(self.byte_ids(word))
            # Go on until no pair is left that the training has merged.
            while known := [pair for pair in pairwise(ids) if pair in self.merges]:
                pair = min(known, key=self.merges.get)  # it has the smallest new id
                ids = merge_pair(ids, pair, self.merges[pair])
            encoded.extend(ids)
        return encoded

    def decode(self, ids):
        """Join what the ids spell; half a character becomes U+FFFD."""
        data = b"".join(self.token_bytes[i] for i in ids)
        return data.decode("utf-8", errors="replace")

    def split(self, text):
        """Cut a text into words, which no merge may cross."""
        return regex.findall(GPT2_PATTERN, text)

    def byte_ids(self, word):
        """A word's bytes, as places in GPT-2's order: "a" is byte 97, and id 64."""
        return [BYTE_ORDER.index(byte) for byte in word.encode("utf-8")]


def count_pairs(words):
    """Count which ids stand side by side; `words` says how often each word occurs."""
    counts = Counter()
    for ids, times in words.items():
        for pair in pairwise(ids):  # (1, 2, 3) has the pairs (1, 2) and (2, 3)
            counts[pair] += times
    return counts


def merge_pair(ids, pair, new_id):
    """Put new_id wherever the pair stands: with the pair (1, 2) and the id 4,
    (1, 2, 3, 1, 2) becomes (4, 3, 4)."""
    merged = []
    for token in ids:
        if merged and (merged[-1], token) == pair:
            merged[-1] = new_id  # in place of the first id; the second isn't added
        else:
            merged.append(token)
    return tuple(merged)
