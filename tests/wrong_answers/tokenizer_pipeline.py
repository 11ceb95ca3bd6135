"""What a class answers to the exercises of lesson 07."""

# ruff: noqa: RUF005, RUF017 (lists are joined as a class joins them)

from __future__ import annotations

import re

import numpy as np

from wrong_answers import refused, right, wrong

# tidy


@wrong("tidy", "newlines are reduced before blanks are cut")
def newlines_first(text):
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)


@wrong("tidy", "the indentation is reduced too")
def every_run(text):
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    text = re.sub(r"  +", " ", text)
    return re.sub(r"\n\n\n+", "\n\n", text)


@wrong("tidy", "through the indentation too")
def replaces(text):
    text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return text.replace("  ", " ").replace("\n\n\n", "\n\n")


@wrong("tidy", "five newlines become four")
def three_newlines(text):
    text = re.sub(r"[ \t]+(?=\n|\Z)", "", text)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub("\n\n\n", "\n\n", text)


@wrong("tidy", "all white space becomes one blank")
def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


@wrong("tidy", "`split` without an argument cuts each line")
def words_of_lines(text):
    return re.sub("\n{3,}", "\n\n", "\n".join(" ".join(line.split()) for line in text.split("\n")))


@wrong("tidy", "only at the end of the text")
def end_of_text_alone(text):
    text = text.rstrip(" \t")
    text = re.sub(r"(?<=[^ \t\n])  +", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "the last line has an end too")
def before_newlines_alone(text):
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "takes the newlines at the end of the text")
def white_space_at_the_end(text):
    text = re.sub(r"\s+$", "", text)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "takes newlines as well, so that empty lines vanish")
def white_space_at_line_ends(text):
    text = re.sub(r"\s+$", "", text, flags=re.M)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "white space that is no blank")
def rstrip_of_lines(text):
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "`splitlines` cuts at more than newlines")
def lines_of_splitlines(text):
    text = "\n".join(line.rstrip(" \t") for line in text.splitlines())
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "are taken with it")
def with_groups(text):
    text = re.sub(r"[ \t]+(?=\n|\Z)", "", text)
    text = re.sub(r"(\S) {2,}(\S)", r"\1 \2", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "runs are reduced between letters alone")
def between_words(text):
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    text = re.sub(r"\b {2,}\b", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "runs are reduced behind letters alone")
def behind_words(text):
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    text = re.sub(r"(?<=\w) +", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "runs of tabs are reduced too")
def blanks_in_runs(text):
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    text = re.sub(r"(?<=[^ \t\n])[ \t]{2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "two newlines become one as well")
def one_newline(text):
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n+", "\n", text)


@wrong("tidy", "each line is stripped")
def strips_lines(text):
    text = "\n".join(line.strip() for line in text.split("\n"))
    text = re.sub(r" {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "newlines are reduced before blanks are cut, and the indentation")
def wrong_order_and_every_run(text):
    text = re.sub(r"\n{3,}", "\n\n", text)
    text = re.sub(r" +", " ", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


@wrong("tidy", "white space that is no blank is cut at the ends of lines")
def rstrip_and_every_run(text):
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", re.sub(" +", " ", text))


@wrong("tidy", "the text as a whole is stripped")
def strip_behind(text):
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


@wrong("tidy", "without `re.MULTILINE`")
def dollar(text):
    text = re.sub(r"[ \t]+$", "", text)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "tabs at the end of a line stay")
def spaces_at_line_ends(text):
    text = re.sub(r" +$", "", text, flags=re.M)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


@wrong("tidy", "three or more newlines become one")
def three_to_one(text):
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    text = re.sub(r"(?<=[^ \t\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n", text)


@wrong("tidy", "indentation of three or more")
def not_behind_a_newline(text):
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    text = re.sub(r"(?<=[^\n]) {2,}", " ", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def tidied(text, runs=(r"(?<=[^ \t\n]) {2,}", " "), newlines=(r"\n{3,}", "\n\n")):
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    return re.sub(*newlines, re.sub(*runs, text))


wrong("tidy", "`(?<!\\n)` holds for")(lambda text: tidied(text, runs=(r"(?<!\n) {2,}", " ")))
wrong("tidy", "lines are joined")(lambda text: tidied(text, runs=(r"(?<=\S)\s+", " ")))
wrong("tidy", "a tab is a blank, so that")(lambda text: tidied(text, runs=(r"(?<=[^ \n]) {2,}", " ")))
wrong("tidy", "runs are halved")(lambda text: tidied(text, runs=(r"(?<=[^ \t\n])  ", " ")))
wrong("tidy", "two spaces stay")(lambda text: tidied(text, runs=(r"(?<=[^ \t\n]) {3,}", " ")))
wrong("tidy", "is replaced with it")(lambda text: tidied(text, runs=(r"[^ \t\n] {2,}", " ")))
wrong("tidy", "becomes nothing")(lambda text: tidied(text, runs=(r"(?<=[^ \t\n]) {2,}", "")))
wrong("tidy", "the letters are taken with them")(lambda text: tidied(text, runs=(r"(\w) {2,}(\w)", r"\1 \2")))
wrong("tidy", "three newlines stay")(lambda text: tidied(text, newlines=(r"\n{4,}", "\n\n")))
wrong("tidy", "only the ends of lines are cut")(lambda text: "\n".join(li.rstrip(" \t") for li in text.split("\n")))
wrong("tidy", "the indentation is reduced.")(
    lambda text: re.sub(r"\n{3,}", "\n\n", re.sub(" +", " ", re.sub(r"[ \t]+\n", "\n", text)))
)
wrong("tidy", "`\\s+\\n` takes newlines as well")(
    lambda text: re.sub(r"(?<=[^ \t\n]) {2,}", " ", re.sub(r"\s+\n", "\n", text))
)


wrong("tidy", None, natural=False)(lambda text: text.replace("\t", "    "))


@right("tidy")
def line_by_line(text):
    lines = []
    for line in text.split("\n"):
        body = line.rstrip(" \t").lstrip(" \t")
        indentation = line.rstrip(" \t")[: len(line.rstrip(" \t")) - len(body)]
        lines.append(indentation + re.sub(r"(?<=[^ \t]) +", " ", body))
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


@right("tidy")
def with_a_group(text):
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n\n\n+", "\n\n", re.sub(r"(\S)  +", r"\1 ", text))


# cut_isolated


def joined(rules):
    return "|".join(f"(?:{rule})" for rule in rules)


@wrong("cut_isolated", "what lies between the matches is dropped")
def found(text, rules):
    return [match.group() for match in re.finditer(joined(rules), text)]


@wrong("cut_isolated", "matches are dropped")
def split_without_a_group(text, rules):
    return [piece for piece in re.split(joined(rules), text) if piece]


@wrong("cut_isolated", "drops the matches, and leaves empty pieces")
def split_alone(text, rules):
    return re.split(joined(rules), text)


@wrong("cut_isolated", "empty pieces stay")
def split_with_a_group(text, rules):
    return re.split(f"({joined(rules)})", text)


@wrong("cut_isolated", "the rest behind the last match")
def no_rest(text, rules):
    pieces, end = [], 0
    for match in re.finditer(joined(rules), text):
        if match.start() > end:
            pieces.append(text[end : match.start()])
        pieces.append(match.group())
        end = match.end()
    return pieces


@wrong("cut_isolated", "what stands before the first match")
def no_beginning(text, rules):
    matches = list(re.finditer(joined(rules), text))
    if not matches:
        return [text] if text else []
    pieces = []
    for match, following in zip(matches, [*matches[1:], None], strict=True):
        gap = text[match.end() : following.start() if following else len(text)]
        pieces += [match.group(), gap]
    return [piece for piece in pieces if piece]


@wrong("cut_isolated", "opposite order")
def reversed_rules(text, rules):
    return [piece for piece in re.split(f"({joined(reversed(rules))})", text) if piece]


@wrong("cut_isolated", "longest pattern")
def longest_pattern(text, rules):
    return [piece for piece in re.split(f"({joined(sorted(rules, key=len)[::-1])})", text) if piece]


@wrong("cut_isolated", "the longest match wins")
def longest_match(text, rules):
    pieces, place, gap = [], 0, ""
    while place < len(text):
        lengths = [len(m.group()) for rule in rules if (m := re.compile(rule).match(text, place))]
        if lengths:
            pieces += [gap, text[place : place + max(lengths)]]
            place, gap = place + max(lengths), ""
        else:
            gap, place = gap + text[place], place + 1
    return [piece for piece in [*pieces, gap] if piece]


@wrong("cut_isolated", "rule by rule")
def one_rule_after_the_other(text, rules):
    if not rules:
        return [text] if text else []
    pieces, end = [], 0
    for match in re.finditer(rules[0], text):
        pieces += [*one_rule_after_the_other(text[end : match.start()], rules[1:]), match.group()]
        end = match.end()
    return pieces + one_rule_after_the_other(text[end:], rules[1:])


@wrong("cut_isolated", "only the rest of the text")
def cuts_the_text_off(text, rules):
    pieces, gap = [], ""
    while text:
        for rule in rules:
            if match := re.match(rule, text):
                pieces += [gap, match.group()]
                gap, text = "", text[match.end() :]
                break
        else:
            gap, text = gap + text[0], text[1:]
    return [piece for piece in [*pieces, gap] if piece]


@wrong("cut_isolated", "one for each character")
def single_characters(text, rules):
    pieces, place = [], 0
    while place < len(text):
        match = re.compile(joined(rules)).match(text, place)
        pieces.append(match.group() if match else text[place])
        place += len(pieces[-1])
    return pieces


@wrong("cut_isolated", "what stands before it are one piece")
def gap_and_match(text, rules):
    pieces, end = [], 0
    for match in re.finditer(joined(rules), text):
        pieces.append(text[end : match.end()])
        end = match.end()
    return [*pieces, text[end:]] if text[end:] else pieces


@wrong("cut_isolated", "pieces that hold only blanks")
def stripped(text, rules):
    return [p.strip() for p in re.split(f"({joined(rules)})", text) if p.strip()]


@wrong("cut_isolated", "a match is cut no further")
def all_pieces_again(text, rules):
    pieces = [text]
    for rule in rules:
        pieces = [q for p in pieces for q in re.split(f"({rule})", p) if q]
    return pieces


@wrong("cut_isolated", "so that pieces occur twice")
def each_rule_from_the_beginning(text, rules):
    pieces, end = [], 0
    for rule in rules:
        for match in re.finditer(rule, text):
            pieces += [text[end : match.start()], match.group()]
            end = match.end()
    return [p for p in [*pieces, text[end:]] if p]


@wrong("cut_isolated", "the character behind each match")
def one_too_far(text, rules):
    pieces, end = [], 0
    for match in re.finditer(joined(rules), text):
        if match.start() > end:
            pieces.append(text[end : match.start()])
        pieces.append(match.group())
        end = match.end() + 1
    return [*pieces, text[end:]] if end < len(text) else pieces


@wrong("cut_isolated", "there is one entry more at the end")
def by_recursion(text, rules):
    match = re.search(joined(rules), text)
    if match is None:
        return [text]
    return [p for p in (text[: match.start()], match.group()) if p] + by_recursion(text[match.end() :], rules)


wrong("cut_isolated", "the first and the last part")(lambda text, rules: re.split(f"({joined(rules)})", text)[1:-1])
wrong("cut_isolated", "are dropped: a tokenizer")(
    lambda text, rules: [p for p in re.split(f"({joined(rules)})", text) if p.strip()]
)
wrong("cut_isolated", "each rule has a group of its own")(
    lambda text, rules: re.split("|".join(f"({rule})" for rule in rules), text)
)


wrong("cut_isolated", None, natural=False)(lambda text, rules: text.split())
wrong("cut_isolated", None, natural=False)(lambda text, rules: list(text))


@right("cut_isolated")
def split_in_a_group(text, rules):
    return [piece for piece in re.split(f"({'|'.join(rules)})", text) if piece]


@right("cut_isolated")
def with_positions(text, rules):
    pieces, place, begin = [], 0, 0
    while place < len(text):
        match = next((m for rule in rules if (m := re.compile(rule).match(text, place))), None)
        if match is None:
            place += 1
            continue
        if begin < place:
            pieces.append(text[begin:place])
        pieces.append(match.group())
        begin = place = match.end()
    return [*pieces, text[begin:]] if begin < len(text) else pieces


refused("cut_isolated", "in another order")(lambda text, rules: sorted(split_in_a_group(text, rules)))

# fall_back_to_bytes


@wrong("fall_back_to_bytes", "the code point instead of the bytes")
def code_points(text, alphabet):
    return [c if c in alphabet else f"<0x{ord(c):02X}>" for c in text]


@wrong("fall_back_to_bytes", "stand in one token")
def one_token(text, alphabet):
    return [c if c in alphabet else "<0x" + c.encode().hex().upper() + ">" for c in text]


@wrong("fall_back_to_bytes", "always bytes")
def always(text, alphabet):
    return [f"<0x{byte:02X}>" for byte in text.encode("utf-8")]


@wrong("fall_back_to_bytes", "one unknown character turns the whole text")
def all_or_none(text, alphabet):
    if all(c in alphabet for c in text):
        return list(text)
    return [f"<0x{byte:02X}>" for byte in text.encode()]


@wrong("fall_back_to_bytes", "unknown characters are dropped")
def dropped(text, alphabet):
    return [c for c in text if c in alphabet]


@wrong("fall_back_to_bytes", "an unknown token")
def unknown(text, alphabet):
    return [c if c in alphabet else "<unk>" for c in text]


@wrong("fall_back_to_bytes", "a byte is no character")
def bytes_by_character(text, alphabet):
    tokens = []
    for c in text:
        if c in alphabet:
            tokens.append(c)
            continue
        for byte in c.encode():
            tokens.append(chr(byte) if chr(byte) in alphabet else f"<0x{byte:02X}>")
    return tokens


@wrong("fall_back_to_bytes", "lower-case names")
def lower(text, alphabet):
    return [t for c in text for t in ([c] if c in alphabet else [f"<0x{b:02x}>" for b in c.encode()])]


@wrong("fall_back_to_bytes", "without the angle brackets")
def hexadecimal(text, alphabet):
    return [t for c in text for t in ([c] if c in alphabet else [hex(b) for b in c.encode()])]


@wrong("fall_back_to_bytes", "one digit below 0x10")
def hexadecimal_in_brackets(text, alphabet):
    return [t for c in text for t in ([c] if c in alphabet else [f"<{hex(b)}>" for b in c.encode()])]


@wrong("fall_back_to_bytes", "have one digit")
def one_digit(text, alphabet):
    return [t for c in text for t in ([c] if c in alphabet else [f"<0x{b:X}>" for b in c.encode()])]


@wrong("fall_back_to_bytes", "decimal")
def decimal(text, alphabet):
    return [t for c in text for t in ([c] if c in alphabet else [f"<0x{b}>" for b in c.encode()])]


@wrong("fall_back_to_bytes", "the bytes themselves, as numbers")
def numbers(text, alphabet):
    return [t for c in text for t in ([c] if c in alphabet else c.encode())]


@wrong("fall_back_to_bytes", "text, a `str`, where no text is wanted")
def one_text(text, alphabet):
    return "".join(c if c in alphabet else "".join(f"<0x{b:02X}>" for b in c.encode()) for c in text)


@wrong("fall_back_to_bytes", "are joined to one")
def one_text_a_character(text, alphabet):
    return [c if c in alphabet else "".join(f"<0x{b:02X}>" for b in c.encode()) for c in text]


@wrong("fall_back_to_bytes", "a list in the list")
def nested(text, alphabet):
    return [c if c in alphabet else [f"<0x{b:02X}>" for b in c.encode()] for c in text]


@wrong("fall_back_to_bytes", "in small letters")
def one_token_in_small_letters(text, alphabet):
    return [c if c in alphabet else f"<0x{c.encode().hex()}>" for c in text]


@wrong("fall_back_to_bytes", "what `encode()` returns")
def as_encoded(text, alphabet):
    return [c if c in alphabet else c.encode() for c in text]


def by_character(text, alphabet, unknown):
    return [t for c in text for t in ([c] if c in alphabet else unknown(c))]


wrong("fall_back_to_bytes", "capitals for the digits alone")(
    lambda text, alphabet: by_character(text, alphabet, lambda c: [f"<0x{b:02x}>".upper() for b in c.encode()])
)
wrong("fall_back_to_bytes", "the x in capitals, too, and bytes below")(
    lambda text, alphabet: by_character(text, alphabet, lambda c: [f"<{hex(b)}>".upper() for b in c.encode()])
)
wrong("fall_back_to_bytes", "angle brackets, a small x")(
    lambda text, alphabet: by_character(text, alphabet, lambda c: [hex(b).upper() for b in c.encode()])
)
wrong("fall_back_to_bytes", "one byte of each")(
    lambda text, alphabet: by_character(text, alphabet, lambda c: [f"<0x{c.encode()[0]:02X}>"])
)
wrong("fall_back_to_bytes", "the alphabet decides")(
    lambda text, alphabet: [t for c in text for t in ([c] if c.isascii() else [f"<0x{b:02X}>" for b in c.encode()])]
)
wrong("fall_back_to_bytes", "the characters of the alphabet are missing")(
    lambda text, alphabet: [f"<0x{b:02X}>" for c in text if c not in alphabet for b in c.encode()]
)
wrong("fall_back_to_bytes", "the wrong way round")(
    lambda text, alphabet: [t for c in text for t in ([f"<0x{b:02X}>" for b in c.encode()] if c in alphabet else [c])]
)


@wrong("fall_back_to_bytes", "UTF-16", natural=False)
def utf_16(text, alphabet):
    return [t for c in text for t in ([c] if c in alphabet else [f"<0x{b:02X}>" for b in c.encode("utf-16-be")])]


@right("fall_back_to_bytes")
def with_hex(text, alphabet):
    tokens, known = [], set(alphabet)
    for c in text:
        tokens.extend(
            [c] if c in known else ["<0x" + c.encode()[i : i + 1].hex().upper() + ">" for i in range(len(c.encode()))]
        )
    return tokens


@right("fall_back_to_bytes")
def in_one_line(text, alphabet):
    return [t for c in text for t in ([c] if c in alphabet else [f"<0x{b:0>2X}>" for b in c.encode()])]


# count_lost_bytes


wrong("count_lost_bytes", "characters are counted")(lambda seen, text: sum(c not in seen for c in text))
wrong("count_lost_bytes", "different unseen characters")(lambda seen, text: len(set(text) - set(seen)))
wrong("count_lost_bytes", "characters that lose a byte")(
    lambda seen, text: sum(any(b not in seen.encode() for b in c.encode()) for c in text)
)
wrong("count_lost_bytes", "all bytes of an unseen character")(
    lambda seen, text: len("".join(c for c in text if c not in seen).encode())
)
wrong("count_lost_bytes", "all bytes of a character that loses one")(
    lambda seen, text: sum(len(c.encode()) for c in text if set(c.encode()) - set(seen.encode()))
)
wrong("count_lost_bytes", "is counted once")(lambda seen, text: len(set(text.encode()) - set(seen.encode())))
wrong("count_lost_bytes", "the bytes that survive")(lambda seen, text: sum(b in seen.encode() for b in text.encode()))
wrong("count_lost_bytes", "the other way round")(lambda seen, text: sum(b not in text.encode() for b in seen.encode()))
wrong("count_lost_bytes", "the lengths are compared")(
    lambda seen, text: max(0, len(text.encode()) - len(seen.encode()))
)
wrong("count_lost_bytes", "may be negative")(lambda seen, text: len(text.encode()) - len(seen.encode()))
wrong("count_lost_bytes", "several values where one")(
    lambda seen, text: [b for b in text.encode() if b not in seen.encode()]
)
wrong("count_lost_bytes", "a float where an integer")(
    lambda seen, text: sum(b not in seen.encode() for b in text.encode()) / max(1, len(text.encode()))
)
wrong("count_lost_bytes", "seen once, it has a token")(
    lambda seen, text: sum(max(0, text.encode().count(b) - seen.encode().count(b)) for b in set(text.encode()))
)


wrong("count_lost_bytes", "a byte is no character")(
    lambda seen, text: len([b for b in text.encode() if chr(b) not in seen])
)


@wrong("count_lost_bytes", "what is no ASCII", natural=False)
def code_points_as_bytes(seen, text):
    return sum(ord(c) > 127 for c in text)


@wrong("count_lost_bytes", "`True` or `False`", natural=False)
def whether_any(seen, text):
    return any(b not in seen.encode() for b in text.encode())


wrong("count_lost_bytes", "what is no ASCII")(lambda seen, text: sum(not c.isascii() for c in text))
wrong("count_lost_bytes", "with all of its bytes")(
    lambda seen, text: sum(len(c.encode()) for c in set(text) if c not in seen)
)
wrong("count_lost_bytes", "place by place")(
    lambda seen, text: sum(a != b for a, b in zip(seen.encode(), text.encode(), strict=False))
)
wrong("count_lost_bytes", None)(lambda seen, text: sum(c not in seen for c in text) * 2)


@right("count_lost_bytes")
def with_numpy(seen, text):
    new, old = (np.frombuffer(t.encode(), dtype=np.uint8) for t in (text, seen))
    return np.count_nonzero(~np.isin(new, old))


@right("count_lost_bytes")
def by_length(seen, text):
    return len(text.encode()) - len([b for b in text.encode() if b in set(seen.encode())])


# end_each


wrong("end_each", "only one end, behind all")(lambda first, second, end_id: first + (second or []) + [end_id])
wrong("end_each", "only between the two")(
    lambda first, second, end_id: first + [end_id] + second if second is not None else first
)
wrong("end_each", "the second sequence never ends")(lambda first, second, end_id: first + [end_id] + (second or []))
wrong("end_each", "the second sequence is missing")(lambda first, second, end_id: first + [end_id])
wrong("end_each", "at the beginning")(
    lambda first, second, end_id: [end_id, *first] + ([end_id, *second] if second is not None else [])
)
wrong("end_each", "before and behind")(
    lambda first, second, end_id: [end_id, *first, end_id] + ([*second, end_id] if second is not None else [])
)
wrong("end_each", "two ends behind a single sequence")(
    lambda first, second, end_id: first + [end_id] + (second or []) + [end_id]
)
wrong("end_each", "one list of all ids")(
    lambda first, second, end_id: [s + [end_id] for s in (first, second) if s is not None]
)
wrong("end_each", "the end is always 0")(
    lambda first, second, end_id: first + [0] + (second + [0] if second is not None else [])
)


@wrong("end_each", "an empty second sequence is a sequence")
def if_second(first, second, end_id):
    ids = first + [end_id]
    if second:
        ids = ids + second + [end_id]
    return ids


@wrong("end_each", "an empty sequence ends too")
def if_any(first, second, end_id):
    ids = []
    for sequence in (first, second):
        if sequence:
            ids += [*sequence, end_id]
    return ids


@wrong("end_each", "its own end all the same")
def only_where_missing(first, second, end_id):
    ids = []
    for sequence in [first] if second is None else [first, second]:
        ids += sequence
        if not sequence or sequence[-1] != end_id:
            ids.append(end_id)
    return ids


@wrong("end_each", "changes its arguments")
def appends(first, second, end_id):
    first.append(end_id)
    if second is not None:
        first += [*second, end_id]
    return first


@wrong("end_each", "on one of its ways there is no")
def no_second_return(first, second, end_id):
    if second is not None:
        return [*first, end_id, *second, end_id]


@wrong("end_each", "`second` may be `None`")
def crashes_without_a_second(first, second, end_id):
    return first + [end_id] + second + [end_id]


@wrong("end_each", "lists stand in the list")
def lists_in_a_list(first, second, end_id):
    return [first, end_id, second, end_id] if second is not None else [first, end_id]


wrong("end_each", "`*second` unpacks it")(
    lambda first, second, end_id: [*first, end_id] if second is None else [*first, end_id, second, end_id]
)
wrong("end_each", "an end behind each id")(
    lambda first, second, end_id: [i for token in first + (second or []) for i in (token, end_id)]
)
wrong("end_each", "a pair of lists")(
    lambda first, second, end_id: first + [end_id] if second is None else (first + [end_id], second + [end_id])
)


@right("end_each")
def with_a_loop(first, second, end_id):
    return [i for s in (first, second) if s is not None for i in [*s, end_id]]


@right("end_each")
def as_an_array(first, second, end_id):
    parts = [first, [end_id]] + ([second, [end_id]] if second is not None else [])
    return np.concatenate([np.asarray(part, dtype=np.int64) for part in parts])


# pad_right


def padded(rows, pad_id, length):
    return [row[:length] + [pad_id] * (length - len(row)) for row in rows]


def masked(rows, length):
    return [[1] * len(row[:length]) + [0] * (length - len(row)) for row in rows]


@wrong("pad_right", "the mask is read off the ids")
def from_ids(rows, pad_id, length):
    new = padded(rows, pad_id, length)
    return new, [[0 if i == pad_id else 1 for i in row] for row in new]


@wrong("pad_right", "wherever an id is 0")
def zeros_are_pads(rows, pad_id, length):
    new = padded(rows, pad_id, length)
    return new, [[1 if i else 0 for i in row] for row in new]


@wrong("pad_right", "one pad too few")
def off_by_one(rows, pad_id, length):
    return (
        [row[:length] + [pad_id] * (length - len(row) - 1) for row in rows],
        [[1] * len(row[:length]) + [0] * (length - len(row) - 1) for row in rows],
    )


wrong("pad_right", "filled up with `pad_id`")(
    lambda rows, pad_id, length: (
        padded(rows, pad_id, length),
        [([1] * len(row) + [pad_id] * length)[:length] for row in rows],
    )
)
wrong("pad_right", "one id less")(
    lambda rows, pad_id, length: (
        [row[: length - 1] + [pad_id] * (length - len(row)) for row in rows],
        [[1] * len(row[: length - 1]) + [0] * (length - len(row)) for row in rows],
    )
)
wrong("pad_right", "the masks are joined")(
    lambda rows, pad_id, length: (padded(rows, pad_id, length), sum(masked(rows, length), []))
)
wrong("pad_right", "are missing: they are cut, and stay")(
    lambda rows, pad_id, length: (
        padded([r for r in rows if len(r) < length], pad_id, length),
        masked([r for r in rows if len(r) < length], length),
    )
)


@wrong("pad_right", "inverted")
def inverted(rows, pad_id, length):
    return padded(rows, pad_id, length), [[1 - m for m in mask] for mask in masked(rows, length)]


@wrong("pad_right", "the two results are exchanged")
def masks_first(rows, pad_id, length):
    return masked(rows, length), padded(rows, pad_id, length)


@wrong("pad_right", "1 everywhere")
def all_ones(rows, pad_id, length):
    return padded(rows, pad_id, length), [[1] * length for _ in rows]


@wrong("pad_right", "before it was cut")
def mask_of_the_long_row(rows, pad_id, length):
    return padded(rows, pad_id, length), [[1] * len(row) + [0] * (length - len(row)) for row in rows]


@wrong("pad_right", "padded on the left")
def left(rows, pad_id, length):
    rows = [row[:length] for row in rows]
    return (
        [[pad_id] * (length - len(row)) + row for row in rows],
        [[0] * (length - len(row)) + [1] * len(row) for row in rows],
    )


@wrong("pad_right", "rows are cut on the left")
def last_ids(rows, pad_id, length):
    rows = [row[-length:] for row in rows]
    return padded(rows, pad_id, length), masked(rows, length)


@wrong("pad_right", "long rows are not cut")
def uncut(rows, pad_id, length):
    return (
        [row + [pad_id] * (length - len(row)) for row in rows],
        [[1] * len(row) + [0] * (length - len(row)) for row in rows],
    )


@wrong("pad_right", "short rows are never filled up")
def unpadded(rows, pad_id, length):
    return [row[:length] for row in rows], [[1] * len(row[:length]) for row in rows]


@wrong("pad_right", "the longest row of the batch")
def to_the_longest(rows, pad_id, length):
    longest = max(len(row) for row in rows)
    return padded(rows, pad_id, longest), masked(rows, longest)


@wrong("pad_right", "the longest row of the batch, where that is shorter")
def as_transformers_does(rows, pad_id, length):
    longest = min(length, max(len(row) for row in rows))
    return padded(rows, pad_id, longest), masked(rows, longest)


@wrong("pad_right", "the pad is always 0")
def zeros(rows, pad_id, length):
    return padded(rows, 0, length), masked(rows, length)


@wrong("pad_right", "`length` pads are added")
def as_many_pads_as_length(rows, pad_id, length):
    return (
        [row[:length] + [pad_id] * length for row in rows],
        [[1] * len(row[:length]) + [0] * length for row in rows],
    )


@wrong("pad_right", "a pair for each row")
def a_pair_each(rows, pad_id, length):
    return [(row, mask) for row, mask in zip(padded(rows, pad_id, length), masked(rows, length), strict=True)]


@wrong("pad_right", "the masks are missing")
def no_masks(rows, pad_id, length):
    return padded(rows, pad_id, length)


@wrong("pad_right", "the last id of a long row is saved")
def keeps_the_end(rows, pad_id, length):
    rows = [row if len(row) <= length else row[: length - 1] + row[-1:] for row in rows]
    return padded(rows, pad_id, length), masked(rows, length)


@wrong("pad_right", "changes its arguments")
def in_place(rows, pad_id, length):
    masks = []
    for row in rows:
        del row[length:]
        masks.append([1] * len(row) + [0] * (length - len(row)))
        row += [pad_id] * (length - len(row))
    return rows, masks


@wrong("pad_right", "did not end within", ends=False)
def never_ends(rows, pad_id, length):
    new = []
    for row in rows:
        while len(row) != length:
            row = row[:length] + [pad_id] * (len(row) < length) if len(row) < length else row[:]
        new.append(row)
    return new, masked(rows, length)


@right("pad_right")
def with_numpy_arrays(rows, pad_id, length):
    ids = np.full((len(rows), length), pad_id)
    mask = np.zeros((len(rows), length), dtype=int)
    for number, row in enumerate(rows):
        n = min(length, len(row))
        ids[number, :n] = row[:n]
        mask[number, :n] = 1
    return ids, mask


@right("pad_right")
def as_lists(rows, pad_id, length):
    return [padded(rows, pad_id, length), masked(rows, length)]


refused("pad_right", "`True` and `False`")(
    lambda rows, pad_id, length: (
        padded(rows, pad_id, length),
        [[bool(m) for m in mask] for mask in masked(rows, length)],
    )
)

# choose_dtype


def name(fits):
    return "uint16" if fits else "uint32"


wrong("choose_dtype", "added tokens are forgotten")(lambda vocab_size, added_ids: name(vocab_size <= 65_536))
wrong("choose_dtype", "added tokens are forgotten")(lambda vocab_size, added_ids: name(vocab_size < 65_536))
wrong("choose_dtype", "tokens are counted")(lambda vocab_size, added_ids: name(vocab_size + len(added_ids) <= 65_536))
wrong("choose_dtype", "tokens are counted")(lambda vocab_size, added_ids: name(vocab_size + len(added_ids) < 65_536))
wrong("choose_dtype", "is V - 1")(lambda vocab_size, added_ids: name(max([vocab_size, *added_ids]) < 65_536))
wrong("choose_dtype", "the bound of int16")(
    lambda vocab_size, added_ids: name(max([vocab_size - 1, *added_ids]) < 2**15)
)
wrong("choose_dtype", "holds 65,535 itself")(
    lambda vocab_size, added_ids: name(max([vocab_size - 1, *added_ids]) < 65_535)
)
wrong("choose_dtype", "65,536 is how many")(
    lambda vocab_size, added_ids: name(max([vocab_size - 1, *added_ids]) <= 2**16)
)
wrong("choose_dtype", "exchanged")(
    lambda vocab_size, added_ids: "uint32" if max([vocab_size - 1, *added_ids]) < 65_536 else "uint16"
)
wrong("choose_dtype", "added to the size of the vocabulary")(
    lambda vocab_size, added_ids: name(vocab_size + max(added_ids, default=0) < 65_536)
)
wrong("choose_dtype", "nor are added ids added")(
    lambda vocab_size, added_ids: name(vocab_size + max(added_ids) < 65_536)
)
wrong("choose_dtype", "raises. `max([a, *b])` does not")(
    lambda vocab_size, added_ids: name(max(vocab_size - 1, max(added_ids)) < 65_536)
)
wrong("choose_dtype", "need not be the largest")(
    lambda vocab_size, added_ids: name((added_ids[-1] if added_ids else vocab_size - 1) < 65_536)
)
wrong("choose_dtype", "they may be larger")(
    lambda vocab_size, added_ids: name((max(added_ids) if added_ids else vocab_size - 1) < 65_536)
)
wrong("choose_dtype", "not their sum")(lambda vocab_size, added_ids: name(vocab_size - 1 + sum(added_ids) < 65_536))
wrong("choose_dtype", "of a single number raises: give it")(
    lambda vocab_size, added_ids: name(max(vocab_size - 1, *added_ids) <= 65_535)
)
wrong("choose_dtype", "of a single number raises; and")(
    lambda vocab_size, added_ids: name(max(vocab_size, *added_ids) <= 65_535)
)
wrong("choose_dtype", "uint8 would do")(
    lambda vocab_size, added_ids: np.min_scalar_type(max([vocab_size - 1, *added_ids])).name
)
wrong("choose_dtype", "and two bounds are off")(lambda vocab_size, added_ids: name(vocab_size < 65_535))
wrong("choose_dtype", "different ids are counted")(
    lambda vocab_size, added_ids: name(len({*range(vocab_size), *added_ids}) <= 65_536)
)
wrong("choose_dtype", "the smallest id")(lambda vocab_size, added_ids: name(min([vocab_size - 1, *added_ids]) < 65_536))
wrong("choose_dtype", "the first added id")(
    lambda vocab_size, added_ids: name((added_ids[0] if added_ids else vocab_size - 1) < 65_536)
)
wrong("choose_dtype", "have a sign")(
    lambda vocab_size, added_ids: "int16" if max([vocab_size - 1, *added_ids]) < 65_536 else "int32"
)
wrong("choose_dtype", None)(lambda vocab_size, added_ids: name(max([vocab_size - 1, *added_ids]) <= 65_355))


wrong("choose_dtype", "for any added token", natural=False)(
    lambda vocab_size, added_ids: name(vocab_size <= 65_536 and not added_ids)
)
wrong("choose_dtype", None, natural=False)(lambda vocab_size, added_ids: "uint32")


@right("choose_dtype")
def by_comparison(vocab_size, added_ids):
    if vocab_size > 65_536 or any(i > 65_535 for i in added_ids):
        return "uint32"
    return "uint16"


@right("choose_dtype")
def by_numpy(vocab_size, added_ids):
    largest = max(added_ids + [vocab_size - 1])
    return np.dtype(np.min_scalar_type(largest) if largest > 255 else np.uint16).name


refused("choose_dtype", "the thing itself where its name")(
    lambda vocab_size, added_ids: np.uint16 if max([vocab_size - 1, *added_ids]) < 65_536 else np.uint32
)
