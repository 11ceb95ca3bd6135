"""Answers to the exercises of lesson 7: right ones, and wrong ones with words of what
they are told."""

import re
from itertools import chain, pairwise

from course_lib.exercises.tokenizer_pipeline import (
    count_lost_bytes,
    cut_isolated,
    fall_back_to_bytes,
    original_places,
    same_tokenizer,
)
from course_lib.teaching.checker import FAILED, PASSED


def cut_by_splitting(text, rules):
    pattern = "".join(["(", "|".join(rules), ")"])
    return list(filter(None, re.split(pattern, text)))


def cut_place_by_place(text, rules):
    pieces, gap, i = [], "", 0
    pattern = re.compile("|".join(rules))
    while i < len(text):
        match = pattern.match(text, i)
        if match:
            pieces += [gap, match[0]] if gap else [match[0]]
            gap, i = "", match.end()
        else:
            gap += text[i]
            i += 1
    return [*pieces, gap] if gap else pieces


def cut_at_borders(text, rules):
    borders = {0, len(text)}
    for match in re.finditer("|".join(rules), text):
        borders |= set(match.span())
    borders = sorted(borders)
    return [text[i:j] for i, j in pairwise(borders)]


def cut_with_empty_pieces(text, rules):
    return re.split("(" + "|".join(rules) + ")", text)


def cut_without_a_group(text, rules):
    return [piece for piece in re.split("|".join(rules), text) if piece != ""]


def cut_slice_by_slice(text, rules):
    pieces, pattern = [], re.compile("|".join(rules))
    match = pattern.search(text)
    while match:
        before, after = text[: match.start()], text[match.end() :]
        pieces += [before, match[0]] if before else [match[0]]
        text = after
        match = pattern.search(text)
    return [*pieces, text] if text else pieces


def cut_again_and_again(text, rules):
    pieces = [text] if text else []
    for rule in rules:
        new = []
        for piece in pieces:
            new += [part for part in re.split("(" + rule + ")", piece) if part]
        pieces = new
    return pieces


def bytes_by_hand(text, alphabet):
    digits = "0123456789ABCDEF"
    tokens = []
    for c in text:
        if c in set(alphabet):
            tokens.append(c)
            continue
        for byte in c.encode("utf-8"):
            tokens.append("<0x" + digits[byte // 16] + digits[byte % 16] + ">")
    return tokens


def bytes_in_a_comprehension(text, alphabet):
    return [token for c in text for token in ([c] if c in alphabet else [f"<0x{b:02X}>" for b in c.encode()])]


def names_by_hex(text, alphabet):
    tokens = []
    for c in text:
        tokens += [c] if c in alphabet else [f"<{hex(byte)}>" for byte in c.encode()]
    return tokens


def one_token_for_all(text, alphabet):
    tokens = []
    for c in text:
        if c in alphabet:
            tokens.append(c)
        else:
            tokens.append("".join(f"<0x{byte:02X}>" for byte in c.encode()))
    return tokens


def code_points(text, alphabet):
    return [c if c in alphabet else f"<0x{ord(c):02X}>" for c in text]


def bytes_looked_up(text, alphabet):
    tokens = []
    for byte in text.encode():
        known = chr(byte) in alphabet
        tokens.append(chr(byte) if known else f"<0x{byte:02X}>")
    return tokens


def lost_one_by_one(seen, text):
    known = seen.encode()
    lost = 0
    for c in text:
        for byte in c.encode():
            if byte not in known:
                lost += 1
    return lost


def lost_by_deleting(seen, text):
    return len(text.encode().translate(None, delete=seen.encode()))


def lost_characters(seen, text):
    return len([c for c in text if c not in seen])


def lost_whole_characters(seen, text):
    return sum(len(c.encode()) for c in text if c not in set(seen))


def lost_once(seen, text):
    return len(set(text.encode()).difference(seen.encode()))


def survivors(seen, text):
    return sum(byte in seen.encode() for byte in text.encode())


def places_in_two_steps(text, invisible):
    kept = [(i, c) for i, c in enumerate(text) if c not in invisible]
    places, before = [], ""
    for i, c in kept:
        if c != " " or before != " ":
            places.append(i)
        before = c
    return places


def places_by_popping(text, invisible):
    places = [i for i in range(len(text)) if text[i] not in invisible]
    for k in range(len(places) - 1, 0, -1):
        if text[places[k]] == text[places[k - 1]] == " ":
            places.pop(k)
    return places


def compared_in_the_text(text, invisible):
    places = []
    for i, c in enumerate(text):
        if c in invisible:
            continue
        if c == " " and i > 0 and text[i - 1] == " ":
            continue
        places.append(i)
    return places


def places_afterwards(text, invisible):
    clean = "".join(c for c in text if c not in invisible)
    return list(range(len(re.sub(" +", " ", clean))))


def characters_left(text, invisible):
    clean = "".join(c for c in text if c not in invisible)
    return list(re.sub(" +", " ", clean))


def runs_stay(text, invisible):
    return [i for i, c in enumerate(text) if c not in invisible]


def all_whitespace(text, invisible):
    places, before = [], ""
    for i, c in enumerate(text):
        if c in invisible:
            continue
        if not (c.isspace() and before.isspace()):
            places.append(i)
        before = c
    return places


def same_by_two_lists(a, b, texts):
    ours = [a.encode(text) for text in texts]
    theirs = [b.encode(text) for text in texts]
    return ours == theirs and [a.decode(i) for i in ours] == [b.decode(i) for i in theirs]


def same_both_ways(a, b, texts):
    different = 0
    for text in texts:
        ids = a.encode(text)
        different += not (ids == b.encode(text) and a.decode(ids) == b.decode(ids))
    return different == 0


def same_vocabulary(a, b, texts):
    return a.get_vocab() == b.get_vocab()


def same_round_trips(a, b, texts):
    return all(a.decode(a.encode(text)) == b.decode(b.encode(text)) for text in texts)


def same_lengths(a, b, texts):
    return [len(a.encode(t)) for t in texts] == [len(b.encode(t)) for t in texts]


def same_ids_alone(a, b, texts):
    return not any(a.encode(text) != b.encode(text) for text in texts)


def returned_in_the_loop(a, b, texts):
    for text in texts:
        ids = a.encode(text)
        return ids == b.encode(text) and a.decode(ids) == b.decode(ids)
    return True


def same_sorted_ids(a, b, texts):
    for text in texts:
        ids = a.encode(text)
        if sorted(ids) != sorted(b.encode(text)) or a.decode(ids) != b.decode(ids):
            return False
    return True


def same_ids_in_all(a, b, texts):
    ids = [list(chain.from_iterable(map(one.encode, texts))) for one in (a, b)]
    return ids[0] == ids[1] and all(a.decode(a.encode(text)) == b.decode(a.encode(text)) for text in texts)


def same_up_to_the_shorter(a, b, texts):
    ids = [(a.encode(text), b.encode(text)) for text in texts]
    alike = all(x == y for one, other in ids for x, y in zip(one, other, strict=False))
    return alike and all(a.decode(one) == b.decode(other) for one, other in ids)


def same_joined(a, b, texts):
    text = "".join(texts)
    return a.encode(text) == b.encode(text) and a.decode(a.encode(text)) == b.decode(b.encode(text))


def matches_alone(text, rules):
    return [match.group() for match in re.finditer("|".join(rules), text)]


def last_rule_first(text, rules):
    pieces, end = [], 0
    for match in re.finditer("|".join(reversed(rules)), text):
        if match.start() > end:
            pieces.append(text[end : match.start()])
        if match.group():
            pieces.append(match.group())
        end = match.end()
    if end < len(text):
        pieces.append(text[end:])
    return pieces


def known_characters_alone(text, alphabet):
    tokens = []
    for character in text:
        if character in alphabet:
            tokens.append(character)
    return tokens


def ascii_stays(text, alphabet):
    tokens = []
    for character in text:
        if character.isascii():
            tokens.append(character)
        else:
            tokens += [f"<0x{byte:02X}>" for byte in character.encode()]
    return tokens


def bytes_that_text_lacks(seen, text):
    known = set(text.encode())
    return len([byte for byte in seen.encode() if byte not in known])


def spaces_at_the_ends_lost(text, invisible):
    places, is_after_space = [], True
    for place, character in enumerate(text):
        if character in invisible:
            continue
        if character == " " and is_after_space:
            continue
        places.append(place)
        is_after_space = character == " "
    return places


def cut_with_flags(flags):
    def cut(text, rules):
        pieces, end = [], 0
        for match in re.finditer("|".join(rules), text, flags):
            pieces += [text[end : match.start()], match.group()]
            end = match.end()
        return [piece for piece in [*pieces, text[end:]] if piece]

    return cut


ANSWERS = [
    (cut_isolated, cut_by_splitting, PASSED),
    (cut_isolated, cut_place_by_place, PASSED),
    (cut_isolated, cut_at_borders, PASSED),
    (cut_isolated, cut_with_empty_pieces, "empty pieces"),
    (cut_isolated, cut_without_a_group, "if they're in a group"),
    (cut_isolated, cut_slice_by_slice, "a slice of the text"),
    (cut_isolated, cut_again_and_again, "rule by rule"),
    (cut_isolated, lambda text, rules: text.split(), FAILED),
    (fall_back_to_bytes, bytes_by_hand, PASSED),
    (fall_back_to_bytes, bytes_in_a_comprehension, PASSED),
    (fall_back_to_bytes, names_by_hex, "other names"),
    (fall_back_to_bytes, one_token_for_all, "into one token"),
    (fall_back_to_bytes, code_points, "the code point"),
    (fall_back_to_bytes, bytes_looked_up, "as if they were characters"),
    (fall_back_to_bytes, lambda text, alphabet: list(text), FAILED),
    (count_lost_bytes, lost_one_by_one, PASSED),
    (count_lost_bytes, lost_by_deleting, PASSED),
    (count_lost_bytes, lost_characters, "you count characters"),
    (count_lost_bytes, lost_whole_characters, "all bytes of an unseen character"),
    (count_lost_bytes, lost_once, "each lost byte once"),
    (count_lost_bytes, survivors, "that survive"),
    (count_lost_bytes, lambda seen, text: len(text.encode()), FAILED),
    (original_places, places_in_two_steps, PASSED),
    (original_places, places_by_popping, PASSED),
    (original_places, compared_in_the_text, "its neighbor in the text"),
    (original_places, places_afterwards, "those in the original"),
    (original_places, characters_left, "not their places"),
    (original_places, runs_stay, "each becomes one space"),
    (original_places, all_whitespace, "for spaces"),
    (same_tokenizer, same_by_two_lists, PASSED),
    (same_tokenizer, same_both_ways, PASSED),
    (same_tokenizer, same_vocabulary, "compare the vocabularies"),
    (same_tokenizer, lambda a, b, texts: same_vocabulary(a, b, texts) and same_by_two_lists(a, b, texts), FAILED),
    (same_tokenizer, same_round_trips, "the texts that come back"),
    (same_tokenizer, same_lengths, "you count ids"),
    (same_tokenizer, same_ids_alone, "never decode them"),
    (same_tokenizer, returned_in_the_loop, "after the first text"),
    (same_tokenizer, same_joined, "you join the texts"),
    (same_tokenizer, lambda a, b, texts: a == b, FAILED),
    (same_tokenizer, same_up_to_the_shorter, FAILED),
    (same_tokenizer, same_sorted_ids, FAILED),
    (same_tokenizer, same_ids_in_all, FAILED),
    (cut_isolated, matches_alone, "drop the text between"),
    (cut_isolated, last_rule_first, "in a different order"),
    (fall_back_to_bytes, known_characters_alone, "lose unknown characters"),
    (fall_back_to_bytes, ascii_stays, "let the alphabet decide"),
    (count_lost_bytes, bytes_that_text_lacks, "the other way around"),
    (original_places, spaces_at_the_ends_lost, "you lose runs of spaces"),
    (cut_isolated, cut_with_flags(re.ASCII), FAILED),
    (cut_isolated, cut_with_flags(re.MULTILINE), FAILED),
]
