"""Byte-pair encoding on one screen: train, encode, decode. Nothing here is fast."""

from collections import Counter
from itertools import pairwise

import regex

from course_lib.bpe.spelling import BYTE_ORDER, GPT2_PATTERN


class OneScreenBPE:
    """A tokenizer learned from a text: 256 bytes, and a new id for each merge."""

    def __init__(self, text, vocab_size):
        """Train, until there are `vocab_size` ids, or no pair occurs twice."""
        self.token_bytes = [bytes([byte]) for byte in BYTE_ORDER]  # what each id spells
        self.merges = {}  # each merged pair and its new id, in the order of learning
        words = {self.spell(word): n for word, n in Counter(self.split(text)).items()}
        while len(self.token_bytes) < vocab_size:
            counts = count_pairs(words)
            # the most frequent; of equally frequent ones, the one with the smallest ids
            pair = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
            if counts[pair] < 2:
                break
            new_id = self.merges[pair] = len(self.token_bytes)
            self.token_bytes.append(b"".join(self.token_bytes[i] for i in pair))
            words = {merge_pair(ids, pair, new_id): n for ids, n in words.items()}

    def encode(self, text):
        """Repeat the training: of a word's pairs, merge the one learned first."""
        encoded = []
        for ids in map(self.spell, self.split(text)):
            while known := [pair for pair in pairwise(ids) if pair in self.merges]:
                pair = min(known, key=self.merges.get)
                ids = merge_pair(ids, pair, self.merges[pair])
            encoded += ids
        return encoded

    def decode(self, ids):
        """Join what the ids spell; half a character becomes U+FFFD."""
        data = b"".join(self.token_bytes[i] for i in ids)
        return data.decode("utf-8", errors="replace")

    def split(self, text):
        """Cut a text into words, which no merge may cross."""
        return regex.findall(GPT2_PATTERN, text)

    def spell(self, word):
        """The ids of a word's bytes."""
        return tuple(BYTE_ORDER.index(byte) for byte in word.encode())


def count_pairs(words):
    """Count which ids stand side by side; `words` says how often each word occurs."""
    counts = Counter()
    for ids, times in words.items():
        for pair in pairwise(ids):
            counts[pair] += times
    return counts


def merge_pair(ids, pair, new_id):
    """Replace a pair by an id that isn't part of it, from left to right."""
    merged = []
    for token in ids:
        if merged and (merged[-1], token) == pair:
            merged[-1] = new_id
        else:
            merged.append(token)
    return tuple(merged)
