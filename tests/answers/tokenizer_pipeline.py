"""Answers to the exercises of lesson 7: right ones, and wrong ones with words of what
they are told."""

import re
from itertools import pairwise

from course_lib.exercises.tokenizer_pipeline import (
    count_lost_bytes,
    cut_isolated,
    fall_back_to_bytes,
    original_places,
    unused_rules,
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


def unused_by_index(texts, rules):
    unused = list(rules)
    pattern = re.compile("|".join(f"({rule})" for rule in rules))
    for text in texts:
        for match in pattern.finditer(text):
            for number, group in enumerate(match.groups()):
                if group is not None and rules[number] in unused:
                    unused.remove(rules[number])
    return unused


def unused_by_walking(texts, rules):
    turns = [0] * len(rules)
    for text in texts:
        i = 0
        while i < len(text):
            for number, rule in enumerate(rules):
                match = re.compile(rule).match(text, i)
                if match:
                    turns[number] += 1
                    i = match.end()
                    break
            else:
                i += 1
    return [rule for rule, count in zip(rules, turns, strict=True) if not count]


def tried_alone(texts, rules):
    unused = []
    for rule in rules:
        if all(re.search(rule, text) is None for text in texts):
            unused.append(rule)
    return unused


def would_match_a_piece(texts, rules):
    pieces = [p for text in texts for p in re.findall("|".join(rules), text)]
    return [r for r in rules if not any(re.fullmatch(r, piece) for piece in pieces)]


def unused_in_some_text(texts, rules):
    unused = set()
    for text in texts:
        unused |= set(unused_by_walking([text], rules))
    return [rule for rule in rules if rule in unused]


def longest_rule_first(texts, rules):
    unused = unused_by_walking(texts, sorted(rules, key=lambda rule: -len(rule)))
    return [rule for rule in rules if rule in unused]


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


ANSWERS = [
    (cut_isolated, cut_by_splitting, PASSED),
    (cut_isolated, cut_place_by_place, PASSED),
    (cut_isolated, cut_at_borders, PASSED),
    (cut_isolated, cut_with_empty_pieces, "empty pieces"),
    (cut_isolated, cut_without_a_group, "if they're in a group"),
    (cut_isolated, cut_slice_by_slice, "a slice of the text"),
    (cut_isolated, cut_again_and_again, "rule by rule"),
    (cut_isolated, lambda text, rules: text.split(), FAILED),
    (unused_rules, unused_by_index, PASSED),
    (unused_rules, unused_by_walking, PASSED),
    (unused_rules, tried_alone, "each rule alone"),
    (unused_rules, would_match_a_piece, "another one takes it"),
    (unused_rules, unused_in_some_text, "in another"),
    (unused_rules, longest_rule_first, "or the longest"),
    (unused_rules, lambda texts, rules: [], FAILED),
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
]
