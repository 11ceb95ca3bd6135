"""What a class answers to the exercises of lesson 07."""

# ruff: noqa: RUF005, RUF017, C401, E741, UP031 (written as a class writes)

from __future__ import annotations

import re

import numpy as np

from wrong_answers import refused, right, wrong

# tidy


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


# cut_isolated


wrong("cut_isolated", None, natural=False)(lambda text, rules: text.split())


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


@wrong("pad_right", "masks come before rows")
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
wrong("choose_dtype", "the bound is too low")(
    lambda vocab_size, added_ids: name(max([vocab_size - 1, *added_ids]) <= 65_355)
)


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


# what three more classes answered


@right("tidy")
def with_m(text):
    text = re.sub("[ \\t]+$", "", text, flags=re.M)
    text = re.sub("([^ \\t\\n]) {2,}", "\\1 ", text)
    return re.sub("\\n\\n\\n+", "\n\n", text)


@right("tidy")
def loop_chars(text):
    lines = [l.rstrip(" \t") for l in text.split("\n")]
    out = []
    for l in lines:
        s = ""
        i = 0
        while i < len(l):
            s += l[i]
            j = i + 1
            while j < len(l) and l[j] == " ":
                j += 1
            if l[i] not in " \t" and j - i - 1 >= 1:
                s += " "
                i = j
            else:
                i += 1
        out.append(s)
    t = "\n".join(out)
    while "\n\n\n" in t:
        t = t.replace("\n\n\n", "\n\n")
    return t


@right("tidy")
def other_order_spaces_first(text):
    text = re.sub("(?<![ \\t\\n])(?<!\\A)  +", " ", text)
    text = re.sub("[ \\t]+(?=\\n)|[ \\t]+\\Z", "", text)
    return re.sub("\\n{3,}", "\n\n", text)


@right("cut_isolated")
def split(text, rules):
    return [p for p in re.split("(" + "|".join(rules) + ")", text) if p]


@right("cut_isolated")
def walk(text, rules):
    cs = [re.compile(x) for x in rules]
    out = []
    i = 0
    buf = ""
    while i < len(text):
        for x in cs:
            m = x.match(text, i)
            if m:
                break
        if m and m.group():
            if buf:
                out.append(buf)
            buf = ""
            out.append(m.group())
            i = m.end()
        else:
            buf += text[i]
            i += 1
    return out + ([buf] if buf else [])


@right("cut_isolated")
def a_tuple(text, rules):
    return tuple(filter(None, re.split("(" + "|".join(f"(?:{x})" for x in rules) + ")", text)))


@right("fall_back_to_bytes")
def bytes_hex_split(text, alphabet):
    out = []
    for ch in text:
        out.extend([ch] if ch in set(alphabet) else [f"<0x{h}>" for h in ch.encode().hex(" ").upper().split()])
    return out


@right("fall_back_to_bytes")
def t_2(text, alphabet):
    return sum(([ch] if alphabet.find(ch) >= 0 else ["<0x%02X>" % b for b in bytes(ch, "utf8")] for ch in text), [])


@right("fall_back_to_bytes")
def tuple_gen(text, alphabet):

    def g():
        for ch in text:
            if ch in alphabet:
                yield ch
            else:
                yield from (f"<0x{format(b, '02X')}>" for b in ch.encode("utf-8"))

    return list(g())


@right("count_lost_bytes")
def translate(seen, text):
    return len(text.encode().translate(None, delete=seen.encode()))


@right("count_lost_bytes")
def numpy_2(seen, text):
    return int((~np.isin(np.frombuffer(text.encode(), np.uint8), np.frombuffer(seen.encode(), np.uint8))).sum())


@right("count_lost_bytes")
def npint(seen, text):
    n = np.zeros(256, bool)
    n[list(seen.encode())] = True
    return (~n[list(text.encode())]).sum() if text else 0


@right("end_each")
def loop(first, second, end_id):
    return [i for s in (first, second) if s is not None for i in (*s, end_id)]


@right("end_each")
def numpy_3(first, second, end_id):
    parts = [np.array(first, int), [end_id]] + ([np.array(second, int), [end_id]] if second is not None else [])
    return np.concatenate(parts).astype(int)


@right("end_each")
def copy(first, second, end_id):
    o = first[:]
    o.append(end_id)
    return o if second is None else [*o, *second, end_id]


@right("pad_right")
def numpy_4(rows, pad_id, length):
    ids = np.full((len(rows), length), pad_id)
    m = np.zeros((len(rows), length), int)
    for i, r in enumerate(rows):
        n = min(len(r), length)
        ids[i, :n] = r[:n]
        m[i, :n] = 1
    return (ids, m)


@right("pad_right")
def comp(rows, pad_id, length):
    return ([(r + [pad_id] * length)[:length] for r in rows], [[int(j < len(r)) for j in range(length)] for r in rows])


@right("pad_right")
def lists(rows, pad_id, length):
    return [[(r + [pad_id] * length)[:length] for r in rows], [([1] * len(r) + [0] * length)[:length] for r in rows]]


@right("choose_dtype")
def np_2(v, a):
    return "uint16" if np.min_scalar_type(max([v - 1, *a])).itemsize <= 2 else "uint32"


@right("choose_dtype")
def shift(v, a):
    return "uint32" if any(x >> 16 for x in (v - 1, *a) if x > 0) else "uint16"


@right("choose_dtype")
def dtype_str(v, a):
    return str(np.dtype(np.uint16 if max(max(a, default=0), v - 1) < 2**16 else np.uint32))


@wrong("fall_back_to_bytes", "lower-case names: the vocabulary holds <0xC3>, and <0xc3> is not found in it.")
def lowercase_hex(text, alphabet):
    return [x for ch in text for x in ([ch] if ch in alphabet else [f"<0x{b:02x}>" for b in ch.encode()])]


@wrong("fall_back_to_bytes", "bytes below 0x10 have one digit. The names have two: <0x0A>.")
def no_zero_pad(text, alphabet):
    return [x for ch in text for x in ([ch] if ch in alphabet else [f"<0x{b:X}>" for b in ch.encode()])]


@wrong(
    "fall_back_to_bytes",
    "`upper` writes the x in capitals, too, and bytes below 0x10 have one digit. The names are <0xC3>",
)
def hex_upper_xc(text, alphabet):
    return [x for ch in text for x in ([ch] if ch in alphabet else [f"<{hex(b).upper()}>" for b in ch.encode()])]


@wrong(
    "fall_back_to_bytes",
    "`hex` writes lower-case digits, and one digit below 0x10: <0xC3> and <0x0A> are the names in the",
)
def hex_lower_no_pad(text, alphabet):
    return [x for ch in text for x in ([ch] if ch in alphabet else [f"<{hex(b)}>" for b in ch.encode()])]


@wrong(
    "fall_back_to_bytes", "the code point instead of the bytes of UTF-8. There are 256 byte tokens, and no <0x4E2D>."
)
def code_point(text, alphabet):
    return [ch if ch in alphabet else f"<0x{ord(ch):02X}>" for ch in text]


@wrong("fall_back_to_bytes", "all bytes of a character stand in one token. Each byte is a token of its own.")
def bytes_in_one_token(text, alphabet):
    return [ch if ch in alphabet else "<0x" + ch.encode().hex().upper() + ">" for ch in text]


@wrong(
    "fall_back_to_bytes",
    "a list in the list for each unknown character: `append` adds one thing, `extend` or `+=` each of",
)
def appends_list(text, alphabet):
    return [ch if ch in alphabet else [f"<0x{b:02X}>" for b in ch.encode()] for ch in text]


@wrong("fall_back_to_bytes", "the tokens of a character are joined to one: each of its bytes is an entry of the list.")
def joined_string_of_bytes_in_one(text, alphabet):
    return [ch if ch in alphabet else "".join(f"<0x{b:02X}>" for b in ch.encode()) for ch in text]


@wrong("fall_back_to_bytes", "ASCII is kept and all else becomes bytes: the alphabet decides, whatever it holds.")
def ascii_test_instead_of_alphabet(text, alphabet):
    return [x for ch in text for x in ([ch] if ch.isascii() else [f"<0x{b:02X}>" for b in ch.encode()])]


@wrong("fall_back_to_bytes", "the bytes of UTF-16. Byte tokens stand for UTF-8, which `encode()` gives by default.")
def latin_utf(text, alphabet):
    return [x for ch in text for x in ([ch] if ch in alphabet else [f"<0x{b:02X}>" for b in ch.encode("utf-16-be")])]


@wrong("fall_back_to_bytes", "always bytes. The fallback is for characters that the alphabet lacks.")
def everything_to_bytes(text, alphabet):
    return [f"<0x{b:02X}>" for b in text.encode()]


@wrong("fall_back_to_bytes", "the wrong way round: characters of the alphabet stay, the others become bytes.")
def inverted_condition(text, alphabet):
    return [x for ch in text for x in ([ch] if ch not in alphabet else [f"<0x{b:02X}>" for b in ch.encode()])]


@wrong(
    "fall_back_to_bytes",
    "the whole text is taken byte by byte, and each looked up as a character: look up the character, and",
)
def iterates_bytes_chr(text, alphabet):
    return [chr(b) if chr(b) in alphabet else f"<0x{b:02X}>" for b in text.encode()]


@wrong("fall_back_to_bytes", "text, a `str`, where no text is wanted.")
def joins_into_text(text, alphabet):
    return "".join(x for ch in text for x in ([ch] if ch in alphabet else [f"<0x{b:02X}>" for b in ch.encode()]))


@wrong("fall_back_to_bytes", "0x is missing in the name of a byte, or is part of the wrong place: <0xC3>.")
def x_forgotten(text, alphabet):
    return [x for ch in text for x in ([ch] if ch in alphabet else [f"<{b:02X}>" for b in ch.encode()])]


@wrong("count_lost_bytes", "characters are counted. An unseen character may share some of its bytes with seen ones.")
def characters_instead_of_bytes(seen, text):
    return sum(ch not in seen for ch in text)


@wrong("count_lost_bytes", "each lost byte is counted once. It is lost wherever it occurs.")
def distinct_lost_bytes(seen, text):
    return len(set(text.encode()) - set(seen.encode()))


@wrong("count_lost_bytes", "all bytes of an unseen character. Those it shares with seen ones, such as 0xC3, survive.")
def bytes_of_unseen_characters(seen, text):
    return sum(len(ch.encode()) for ch in text if ch not in seen)


@wrong("count_lost_bytes", "the other way round: bytes of `seen` that `text` does not use.")
def swapped_args(seen, text):
    return sum(b not in set(text.encode()) for b in seen.encode())


@wrong("count_lost_bytes", "the bytes that survive, not those that are lost.")
def counts_kept(seen, text):
    return sum(b in set(seen.encode()) for b in text.encode())


@wrong(
    "count_lost_bytes",
    "the lengths are subtracted, and the result may be negative: which bytes they are decides, not how",
)
def difference_in_length(seen, text):
    return len(text.encode()) - len(seen.encode())


@wrong(
    "count_lost_bytes", "a byte that occurs more often than in `seen` is not lost: seen once, it has a token for good."
)
def counter_difference(seen, text):
    from collections import Counter

    return sum((Counter(text.encode()) - Counter(seen.encode())).values())


@wrong("count_lost_bytes", "characters are counted. An unseen character may share some of its bytes with seen ones.")
def latin_ord(seen, text):
    return len([o for o in map(ord, text) if o not in set(map(ord, seen))])


@wrong("count_lost_bytes", "characters that lose a byte are counted. Some lose one, others three.")
def whole_characters_dropped_chars_with_any(seen, text):
    s = set(seen.encode())
    return sum(any(b not in s for b in ch.encode()) for ch in text)


@wrong(
    "count_lost_bytes", "all bytes of a character that loses one. The others survive: the model meets half a character."
)
def whole_char_bytes_if_any_lost(seen, text):
    s = set(seen.encode())
    return sum(len(ch.encode()) for ch in text if any(b not in s for b in ch.encode()))


@wrong("count_lost_bytes", "ASCII is taken as known: only the bytes of `seen` are.")
def all_ascii_known_besides(seen, text):
    s = set(seen.encode()) | set(range(128))
    return sum(b not in s for b in text.encode())


@wrong("count_lost_bytes", "a float where an integer is wanted")
def share_instead_of_count(seen, text):
    s = set(seen.encode())
    n = text.encode()
    return sum(b not in s for b in n) / len(n) if n else 0.0


@wrong("count_lost_bytes", "all bytes of an unseen character. Those it shares with seen ones, such as 0xC3, survive.")
def substring_encoded_char_in_seen_encode(seen, text):
    e = seen.encode()
    return sum(len(ch.encode()) for ch in text if ch.encode() not in e)


@wrong(
    "count_lost_bytes", "the bytes of UTF-16: a byte-level tokenizer reads UTF-8, which `encode()` gives by default."
)
def utf(seen, text):
    s = set(seen.encode("utf-16-le"))
    return sum(b not in s for b in text.encode("utf-16-le"))


@wrong("count_lost_bytes", "several values where one number is wanted.")
def list_of_lost_bytes(seen, text):
    s = set(seen.encode())
    return [b for b in text.encode() if b not in s]


@wrong("end_each", "only one end, behind all: the two texts of a pair run into each other.")
def only_at_the_very_end(first, second, end_id):
    return first + (second or []) + [end_id]


@wrong("end_each", "an empty second sequence is a sequence: only `None` means that there is none.")
def truthiness_of_second(first, second, end_id):
    ids = first + [end_id]
    if second:
        ids = ids + second + [end_id]
    return ids


@wrong("end_each", "the second sequence never ends: each that exists gets an end of its own.")
def only_between(first, second, end_id):
    return first + [end_id] + (second or [])


@wrong("end_each", "at the beginning. A token there begins a text; this one is to end it.")
def end_before_each(first, second, end_id):
    return [end_id] + first + ([end_id] + second if second is not None else [])


@wrong("end_each", "two ends behind a single sequence: a second one that does not exist gets none.")
def two_ends_for_none(first, second, end_id):
    return first + [end_id] + (second or []) + [end_id]


@wrong("end_each", "an end is left out where the ids so far end with one, be it that of the first text: the")
def not_if_already_ends(first, second, end_id):
    out = list(first)
    if not out or out[-1] != end_id:
        out.append(end_id)
    if second is not None:
        out += second
        if out[-1] != end_id:
            out.append(end_id)
    return out


@wrong("end_each", "the function changes its arguments. Whoever called it still needs them: work on a copy.")
def mutates(first, second, end_id):
    first.append(end_id)
    if second is not None:
        first.extend(second)
        first.append(end_id)
    return first


@wrong("end_each", "a list for each sequence: one list of all ids is wanted.")
def nested_lists(first, second, end_id):
    return [first + [end_id]] + ([second + [end_id]] if second is not None else [])


@wrong("end_each", "`second` stands in the list as a list: `*second` unpacks it.")
def append_second_as_element(first, second, end_id):
    out = first + [end_id]
    if second is not None:
        out.append(second)
        out.append(end_id)
    return out


@wrong("end_each", "`second` may be `None`, which cannot be added to a list: there is one sequence then.")
def fails_for_none(first, second, end_id):
    return first + [end_id] + second + [end_id]


@wrong("end_each", "an empty sequence ends too: any that exists gets its end.")
def empty_first_gets_no_end(first, second, end_id):
    out = []
    for x in (first, second):
        if x:
            out += x + [end_id]
    return out


@wrong("end_each", "the second sequence stands before the first.")
def second_before_first(first, second, end_id):
    if second is None:
        return first + [end_id]
    return second + [end_id] + first + [end_id]


@wrong("end_each", "an end behind each id: it stands behind each text.")
def end_after_each_id(first, second, end_id):
    return [x for i in first for x in (i, end_id)] + (
        [x for i in second for x in (i, end_id)] if second is not None else []
    )


@wrong("end_each", "only one end, behind all: the two texts of a pair run into each other.")
def second_none_but_the_end_only(first, second, end_id):
    if second is None:
        return first + [end_id]
    return first + second + [end_id]


@wrong("end_each", "the ids that equal the end are taken out first: a post-processor adds, and removes nothing.")
def removes_existing_ends(first, second, end_id):
    out = [i for i in first if i != end_id] + [end_id]
    if second is not None:
        out += [i for i in second if i != end_id] + [end_id]
    return out


@wrong("pad_right", "padded on the left: every position id of a short row is off by the number of pads.")
def left_pad(rows, pad_id, length):
    rows = [r[:length] for r in rows]
    return ([[pad_id] * (length - len(r)) + r for r in rows], [[0] * (length - len(r)) + [1] * len(r) for r in rows])


@wrong("pad_right", "the mask is read off the ids. A real token with the id of the pad, such as an end, is masked too.")
def mask_from_pad_id(rows, pad_id, length):
    new = [r[:length] + [pad_id] * (length - len(r)) for r in rows]
    return (new, [[int(i != pad_id) for i in r] for r in new])


@wrong("pad_right", "the mask is inverted: 1 stands for a real token, 0 for a pad.")
def mask_inverted(rows, pad_id, length):
    new = [r[:length] + [pad_id] * (length - len(r)) for r in rows]
    return (new, [[0] * min(len(r), length) + [1] * (length - min(len(r), length)) for r in rows])


@wrong("pad_right", "long rows are not cut: the rows of a batch must have one length.")
def no_cut(rows, pad_id, length):
    return ([r + [pad_id] * (length - len(r)) for r in rows], [[1] * len(r) + [0] * (length - len(r)) for r in rows])


@wrong("pad_right", "the mask is as long as the row was before it was cut. Cut first.")
def masks_not_cut(rows, pad_id, length):
    return ([(r + [pad_id] * length)[:length] for r in rows], [[1] * len(r) + [0] * (length - len(r)) for r in rows])


@wrong("pad_right", "padded to the longest row of the batch: `length` is asked, longer or shorter.")
def longest_row_instead_of_length(rows, pad_id, length):
    n = max(map(len, rows), default=0)
    return ([r + [pad_id] * (n - len(r)) for r in rows], [[1] * len(r) + [0] * (n - len(r)) for r in rows])


@wrong("pad_right", "rows are cut on the left: the beginning of the text is lost instead of the end.")
def cut_on_left(rows, pad_id, length):
    return (
        [r[-length:] + [pad_id] * (length - len(r)) for r in rows],
        [[1] * min(len(r), length) + [0] * (length - len(r)) for r in rows],
    )


@wrong("pad_right", "the pad is always 0: it is `pad_id`.")
def pads_with_zeros(rows, pad_id, length):
    return (
        [r[:length] + [0] * (length - len(r)) for r in rows],
        [[1] * min(len(r), length) + [0] * (length - len(r)) for r in rows],
    )


@wrong("pad_right", "the masks hold `True` and `False`, or floats: 1 and 0 are asked, as whole numbers.")
def mask_true_false(rows, pad_id, length):
    return (
        [r[:length] + [pad_id] * (length - len(r)) for r in rows],
        [[j < len(r) for j in range(length)] for r in rows],
    )


@wrong("pad_right", "masks come before rows.")
def swapped_outputs(rows, pad_id, length):
    return (
        [[1] * min(len(r), length) + [0] * (length - len(r)) for r in rows],
        [r[:length] + [pad_id] * (length - len(r)) for r in rows],
    )


@wrong("pad_right", "a pair for each row: all padded rows stand in one list, all masks in another.")
def one_pair_per_row(rows, pad_id, length):
    return [
        (r[:length] + [pad_id] * (length - len(r)), [1] * min(len(r), length) + [0] * (length - len(r))) for r in rows
    ]


@wrong("pad_right", "the masks are missing: rows and masks are asked, in this order.")
def only_rows(rows, pad_id, length):
    return [r[:length] + [pad_id] * (length - len(r)) for r in rows]


@wrong("pad_right", "the mask is 1 everywhere: pads are to be 0 in it.")
def mask_all_ones(rows, pad_id, length):
    return ([r[:length] + [pad_id] * (length - len(r)) for r in rows], [[1] * length for r in rows])


@wrong("pad_right", "one pad too few: what is missing is `length` minus the row's length.")
def one_pad_too_few_off_by(rows, pad_id, length):
    return (
        [r[:length] + [pad_id] * (length - len(r) - 1) for r in rows],
        [[1] * min(len(r), length) + [0] * (length - len(r) - 1) for r in rows],
    )


@wrong("pad_right", "long rows are dropped: they are to be cut.")
def long_rows_dropped(rows, pad_id, length):
    rows = [r for r in rows if len(r) <= length]
    return ([r + [pad_id] * (length - len(r)) for r in rows], [[1] * len(r) + [0] * (length - len(r)) for r in rows])


@wrong("choose_dtype", "the largest id of a vocabulary of V tokens is V - 1, since ids begin at 0.")
def vocab_size_2(v, a):
    return "uint16" if max([v, *a]) <= 65535 else "uint32"


@wrong("choose_dtype", "added tokens are forgotten: the id 65,536 becomes 0 in uint16, and nobody is told.")
def ignores_added(v, a):
    return "uint16" if v - 1 <= 65535 else "uint32"


@wrong(
    "choose_dtype",
    "tokens are counted. Added ids may be ids of the vocabulary, or leave a gap behind it: the largest id counts",
)
def count_of_added(v, a):
    return "uint16" if v + len(a) <= 65536 else "uint32"


@wrong("choose_dtype", "there may be no added ids: `max` of an empty list raises. `max([a, *b])` does not.")
def max_added_fails_on_empty(v, a):
    return "uint16" if max(v - 1, max(a)) <= 65535 else "uint32"


@wrong("choose_dtype", "uint16 holds 65,535 itself: `<=`, not `<`.")
def t_3(v, a):
    return "uint16" if max([v - 1, *a]) < 65535 else "uint32"


@wrong("choose_dtype", "65,536 is how many numbers uint16 holds; the largest of them is 65,535.")
def t_4(v, a):
    return "uint16" if max([v - 1, *a]) <= 65536 else "uint32"


@wrong("choose_dtype", "32,767 is the bound of int16. Without a sign there are twice as many numbers.")
def int_limit(v, a):
    return "uint16" if max([v - 1, *a]) <= 32767 else "uint32"


@wrong("choose_dtype", "of the added ids the last one alone is looked at.")
def last_added_only(v, a):
    return "uint16" if max(v - 1, a[-1] if a else 0) <= 65535 else "uint32"


@wrong("choose_dtype", "where there are added ids, those of the vocabulary count as well: they may be larger.")
def max_of_added_else_vocab(v, a):
    return "uint16" if (max(a) if a else v - 1) <= 65535 else "uint32"


@wrong("choose_dtype", "the thing itself where its name is wanted, as a `str`.")
def numpy_dtype_returned(v, a):
    return np.uint16 if max([v - 1, *a]) <= 65535 else np.uint32


@wrong("choose_dtype", "the two names are exchanged: uint16 where all ids fit into it.")
def swapped(v, a):
    return "uint32" if max([v - 1, *a]) <= 65535 else "uint16"


@wrong("choose_dtype", "added ids are ids already: the size of the vocabulary, or V - 1, is not to be added to them.")
def added_offset_from_vocab_v_max(v, a):
    return "uint16" if v - 1 + max(a, default=0) <= 65535 else "uint32"


@wrong("choose_dtype", "ids are added up: the largest of them counts, not their sum.")
def any_of_sum(v, a):
    return "uint16" if v - 1 + sum(a) <= 65535 else "uint32"


@wrong("choose_dtype", "uint8 would do for few ids, but is not offered: uint16 at least.")
def uint(v, a):
    m = max([v - 1, *a])
    return "uint8" if m < 256 else "uint16" if m < 65536 else "uint32"


@wrong("choose_dtype", "the largest id of a vocabulary of V tokens is V - 1, since ids begin at 0.")
def v_strict_added_fine_v(v, a):
    return "uint16" if v < 65536 and all(x < 65536 for x in a) else "uint32"


@wrong("cut_isolated", "the text is cut at blanks first, and they are lost: the rules alone cut.")
def fullmatch_on_words_split_by_space(text, rules):
    return [x for p in text.split(" ") for x in re.split("(" + "|".join(rules) + ")", p) if x]


@wrong("cut_isolated", "the entries are right, but in another order.")
def matches_then_gaps(text, rules):
    r = "|".join(rules)
    return re.findall(r, text) + [p for p in re.split(r, text) if p]


@wrong("fall_back_to_bytes", "names are those of code points, U+.")
def unicode_escape_names_u(text, alphabet):
    return [ch if ch in alphabet else f"<U+{ord(ch):04X}>" for ch in text]


@wrong("fall_back_to_bytes", "numbers below 0x10 have a space in front.")
def three_digits_x_space_padded_x(text, alphabet):
    return [x for ch in text for x in ([ch] if ch in alphabet else [f"<0x{b:2X}>" for b in ch.encode()])]


@wrong(
    "fall_back_to_bytes", "`upper` writes the x in capitals, too. The names are <0xC3>: capitals for the digits alone."
)
def upper_on_whole_token_incl_x(text, alphabet):
    return [x for ch in text for x in ([ch] if ch in alphabet else [f"<0x{b:02x}>".upper() for b in ch.encode()])]


@wrong(
    "fall_back_to_bytes",
    "known characters that stand side by side are joined: before any merge each of them is a token.",
)
def join_of_known_runs_consecutive_known(text, alphabet):
    out = []
    buf = ""
    for ch in text:
        if ch in alphabet:
            buf += ch
        else:
            if buf:
                out.append(buf)
                buf = ""
            out += [f"<0x{b:02X}>" for b in ch.encode()]
    return out + ([buf] if buf else [])


@wrong("fall_back_to_bytes", "the whole text is looked for in the alphabet: character by character it goes.")
def whole_text_in_alphabet(text, alphabet):
    if text in alphabet:
        return list(text)
    return [f"<0x{b:02X}>" for b in text.encode()]


@wrong("fall_back_to_bytes", "ASCII is kept besides the alphabet.")
def ord_ch_or_in_alphabet(text, alphabet):
    return [
        x for ch in text for x in ([ch] if ch in alphabet or ord(ch) < 128 else [f"<0x{b:02X}>" for b in ch.encode()])
    ]


@wrong("fall_back_to_bytes", "Python's way to show `bytes` is taken for a name.")
def chars_via_str(text, alphabet):
    return [ch if ch in alphabet else str(ch.encode()) for ch in text]


@wrong(
    "fall_back_to_bytes",
    "`hex` writes lower-case digits, and one digit below 0x10: <0xC3> and <0x0A> are the names in the",
)
def hex_lower_no_pad_2(text, alphabet):
    return [x for ch in text for x in ([ch] if ch in alphabet else ["<0x" + hex(b)[2:] + ">" for b in ch.encode()])]


@wrong(
    "count_lost_bytes", "each unseen character is counted once, with all of its bytes: every byte counts, wherever it"
)
def length_of_unseen_chars_set_joined(seen, text):
    return len("".join(set(text) - set(seen)).encode())


@wrong("count_lost_bytes", "all bytes of an unseen character. Those it shares with seen ones, such as 0xC3, survive.")
def replace_seen_chars_out_count_bytes(seen, text):
    for ch in seen:
        text = text.replace(ch, "")
    return len(text.encode())


@wrong("count_lost_bytes", "characters are counted. An unseen character may share some of its bytes with seen ones.")
def text_not_in_seen_bytes_str(seen, text):
    return len(text) - sum(ch in seen for ch in text)


@wrong("count_lost_bytes", "the bytes of the text are counted: those that occur in `seen` survive.")
def known_set(seen, text):
    known = set(seen)
    return sum(b not in known for b in text.encode())


@wrong(
    "count_lost_bytes", "a byte that occurs more often than in `seen` is not lost: seen once, it has a token for good."
)
def removes_from_list_as_it_goes(seen, text):
    l = list(seen.encode())
    n = 0
    for b in text.encode():
        if b in l:
            l.remove(b)
        else:
            n += 1
    return n


@wrong("count_lost_bytes", "the two texts are exchanged, and each is counted once.")
def union_size(seen, text):
    return len(set(seen.encode()) | set(text.encode())) - len(set(text.encode()))


@wrong("count_lost_bytes", "all 256 bytes that `seen` lacks are counted, whatever the text holds.")
def alphabet_2(seen, text):
    return 256 - len(set(seen.encode()))


@wrong("count_lost_bytes", "`True` or `False` where a number is wanted.")
def bool_any(seen, text):
    return any(b not in seen.encode() for b in text.encode())


@wrong("end_each", "two ends behind a single sequence: a second one that does not exist gets none.")
def or_second_or_end(first, second, end_id):
    return first + [end_id] + (second + [end_id] if second else [end_id])


@wrong("end_each", "an empty first text is taken for none.")
def if_first_guard(first, second, end_id):
    out = []
    if first:
        out += [*first, end_id]
    if second is not None:
        out += [*second, end_id]
    return out


@wrong("end_each", "the function always returns `None`")
def list_append_returns_none(first, second, end_id):
    ids = list(first)
    r = ids.append(end_id)
    if second is not None:
        r = ids.extend([*second, end_id])
    return r


@wrong("end_each", "on one of its ways there is no `return`")
def returns_in_if_only(first, second, end_id):
    if second is not None:
        return [*first, end_id, *second, end_id]


@wrong("end_each", "the last entry is missing in every one of them.")
def inserts_separator_between_and_only_end(first, second, end_id):
    out = first + ([end_id] if second is not None else []) + (second or [])
    return out + [end_id] if out and out[-1] != end_id else out


@wrong("end_each", "two ends stand between the texts of a pair.")
def string_join_tuple_end_uses_end(first, second, end_id):
    if second is None:
        return [*first, end_id]
    return [*first, end_id, end_id, *second, end_id]


@wrong("end_each", "two things at once: a single text has two ends; and the second text of a pair has no end.")
def condition_inverted(first, second, end_id):
    ids = [*first, end_id]
    if second is None:
        return ids + [end_id]
    return ids + [*second]


@wrong("end_each", "the first text of a pair stands there twice.")
def first_twice(first, second, end_id):
    ids = [*first, end_id]
    if second is not None:
        ids += [*first, end_id]
    return ids


@wrong("pad_right", "the mask of the last row alone is there.")
def shared_mask_for_last_row(rows, pad_id, length):
    new = []
    masks = []
    for r in rows:
        n = min(len(r), length)
        mask = [1] * n + [0] * (length - n)
        new.append(r[:length] + [pad_id] * (length - n))
    masks.append(mask)
    return (new, masks)


@wrong("pad_right", "long rows are not cut; the masks are right.")
def if_len_length_pad_else_keep(rows, pad_id, length):
    return (
        [r + [pad_id] * (length - len(r)) if len(r) < length else r for r in rows],
        [([1] * len(r) + [0] * length)[:length] for r in rows],
    )


@wrong("pad_right", "the last place of a long row is a pad; the masks are right.")
def returns_list_of_masks_first_row(rows, pad_id, length):
    new = [r[: length - 1] + [pad_id] if len(r) > length else r + [pad_id] * (length - len(r)) for r in rows]
    return (new, [[1] * min(len(r), length) + [0] * (length - min(len(r), length)) for r in rows])


@wrong("pad_right", "the function changes its arguments. Whoever called it still needs them: work on a copy.")
def modifies_rows_in_place_with_append(rows, pad_id, length):
    m = []
    for i, r in enumerate(rows):
        n = min(len(r), length)
        m.append([1] * n + [0] * (length - n))
        while len(r) < length:
            r.append(pad_id)
        rows[i] = r[:length]
    return (rows, m)


@wrong("pad_right", "the masks hold `True` and `False`, or floats: 1 and 0 are asked, as whole numbers.")
def mask_floats(rows, pad_id, length):
    return (
        [(r + [pad_id] * length)[:length] for r in rows],
        [[float(j < len(r)) for j in range(length)] for r in rows],
    )


@wrong("pad_right", "the mask is 0 at pads of the end, and at ids that equal the pad before them.")
def mask_real_ids_up_to_last(rows, pad_id, length):
    new = [(r + [pad_id] * length)[:length] for r in rows]
    ms = []
    for r in new:
        n = len(r)
        while n and r[n - 1] == pad_id:
            n -= 1
        ms.append([1] * n + [0] * (length - n))
    return (new, ms)


@wrong("pad_right", "the pad is always -100.")
def pads_mask_keeps_pad_value(rows, pad_id, length):
    return ([(r + [-100] * length)[:length] for r in rows], [([1] * len(r) + [0] * length)[:length] for r in rows])


@wrong("pad_right", "all rows are joined to one list, and all masks.")
def flat_lists(rows, pad_id, length):
    a = []
    b = []
    for r in rows:
        a += (r + [pad_id] * length)[:length]
        b += ([1] * len(r) + [0] * length)[:length]
    return (a, b)


@wrong(
    "choose_dtype",
    "a vocabulary may have 65,536 tokens, but no id may be 65,536: that is how many numbers uint16 holds.",
)
def v_only_and_any(v, a):
    return "uint32" if v > 2**16 or any(i > 2**16 for i in a) else "uint16"


@wrong(
    "choose_dtype", "tokens are counted, and compared with the largest id, which of V tokens is V - 1: it alone counts"
)
def v_len_a(v, a):
    return "uint32" if v + len(a) > 65535 else "uint16"


@wrong("choose_dtype", "where there are added ids, those of the vocabulary count as well, whose largest is V - 1.")
def max_a_default_v(v, a):
    return "uint16" if max(a, default=v) < 65536 else "uint32"


@wrong("choose_dtype", "the smallest id: every one must fit, so the largest decides.")
def all_any_mixup_uint_if_any(v, a):
    return "uint16" if any(i < 65536 for i in [v - 1, *a]) else "uint32"


@wrong(
    "choose_dtype",
    "a vocabulary may have 65,536 tokens, but no id may be 65,536: that is how many numbers uint16 holds.",
)
def with_v(v, a):
    return "uint16" if v <= 65536 and all(i <= 65536 for i in a) else "uint32"


@wrong("choose_dtype", "the largest id of a vocabulary of V tokens is V - 1, since ids begin at 0.")
def v_and_ids(v, a):
    return "uint16" if v <= 65535 and (not a or max(a) <= 65535) else "uint32"


@wrong("choose_dtype", "32,767 is the bound of int16, which is reached: uint16 has no sign, and holds 65,535 itself.")
def len_str_np_iinfo_int(v, a):
    return "uint16" if max([v - 1, *a]) < np.iinfo(np.int16).max else "uint32"


@wrong("choose_dtype", "the thing itself where its name is wanted, as a `str`.")
def returns_dtype_object_for_np_dtype(v, a):
    return np.dtype("uint16" if max([v - 1, *a]) < 65536 else "uint32")


@wrong("tidy", None)
def count_consecutive_empties_allow_two(text):
    out = []
    n = 0
    for l in text.split("\n"):
        l = re.sub("(?<=[^ \\t\\n]) {2,}", " ", l.rstrip(" \t"))
        n = n + 1 if not l else 0
        if n <= 2:
            out.append(l)
    return "\n".join(out)


@wrong("tidy", "newlines are missing; all else is right.")
def drops_empties_all_but_one_consecutive(text):
    out = []
    p = False
    for l in text.split("\n"):
        l = re.sub("(?<=[^ \\t\\n]) {2,}", " ", l.rstrip(" \t"))
        if l or not p:
            out.append(l)
        p = not l
    return "\n".join(out)


@wrong("tidy", "newlines and other characters are missing; all else is right.")
def s_in_ends_before_n(text):
    text = re.sub("\\s+\\n", "\n", text)
    text = re.sub("[ \\t]+\\Z", "", text)
    return re.sub("(?<=[^ \\t\\n])  +", " ", text)


@wrong("cut_isolated", "a `set`, which has no order and no repeats.")
def set_of_pieces(text, rules):
    return set(p for p in re.split("(" + "|".join(rules) + ")", text) if p)


@wrong("cut_isolated", "text, a `str`, where no text is wanted.")
def one_space_joined_string(text, rules):
    return " ".join(p for p in re.split("(" + "|".join(rules) + ")", text) if p)


@wrong("cut_isolated", "all entries are there, in their order, with others among them.")
def drops_first_and_last_empty_only(text, rules):
    p = re.split("(" + "|".join(rules) + ")", text)
    if p[0] == "":
        p = p[1:]
    if p and p[-1] == "":
        p = p[:-1]
    return p


@wrong("fall_back_to_bytes", "capitals become small letters: the text's characters stay as they are.")
def encodes_known_chars_swap_known_as(text, alphabet):
    return [x for ch in text.lower() for x in ([ch] if ch in alphabet else [f"<0x{b:02X}>" for b in ch.encode()])]


@wrong("fall_back_to_bytes", "the first entry is missing in every one of them.")
def skips_whitespace(text, alphabet):
    return [
        x
        for ch in text
        if not ch.isspace()
        for x in ([ch] if ch in alphabet else [f"<0x{b:02X}>" for b in ch.encode()])
    ]


@wrong(
    "fall_back_to_bytes",
    "the result begins right, and ends too early: does a loop, or the function, end before it has seen",
)
def break_at_first_unknown(text, alphabet):
    out = []
    for ch in text:
        if ch in alphabet:
            out.append(ch)
        else:
            out += [f"<0x{b:02X}>" for b in ch.encode()]
            break
    return out


@wrong("fall_back_to_bytes", "from the first unknown character on all is bytes: the characters behind it may be known.")
def rest_of_text_after_unknown(text, alphabet):
    out = []
    for i, ch in enumerate(text):
        if ch in alphabet:
            out.append(ch)
        else:
            return out + [f"<0x{b:02X}>" for b in text[i:].encode()]
    return out


@wrong(
    "fall_back_to_bytes",
    "the result begins right, and ends too early: does a loop, or the function, end before it has seen",
)
def return_inside_loop(text, alphabet):
    out = []
    for ch in text:
        if ch in alphabet:
            out.append(ch)
        else:
            out.extend(f"<0x{b:02X}>" for b in ch.encode())
        return out
    return out


@wrong(
    "fall_back_to_bytes",
    "a name is taken apart into its characters: `+=` of a list and a `str` adds each of them, `append`",
)
def list_string_splits_name_into_characters(text, alphabet):
    out = []
    for ch in text:
        if ch in alphabet:
            out += ch
        else:
            for b in ch.encode():
                out += f"<0x{b:02X}>"
    return out


@wrong("fall_back_to_bytes", "the entries are right, but in another order.")
def generator_of_sorted_set_order(text, alphabet):
    return sorted(x for ch in text for x in ([ch] if ch in alphabet else [f"<0x{b:02X}>" for b in ch.encode()]))


@wrong("fall_back_to_bytes", "the bytes of the code point: UTF-8 writes it otherwise from 0x80 on.")
def code_point_split_in_hex_pairs(text, alphabet):
    return [
        x
        for ch in text
        for x in ([ch] if ch in alphabet else [f"<0x{b:02X}>" for b in ord(ch).to_bytes(4, "big") if b])
    ]


@wrong("count_lost_bytes", "each lost byte is counted once. It is lost wherever it occurs.")
def each_distinct_char_lost_bytes(seen, text):
    return sum(b not in seen.encode() for ch in set(text) for b in ch.encode())


@wrong("count_lost_bytes", "ASCII is taken as known: only the bytes of `seen` are.")
def ignores_ascii_text(seen, text):
    return sum(b not in seen.encode() for b in text.encode() if b > 127)


@wrong(
    "count_lost_bytes",
    "bytes of `seen` that `text` lacks are counted as well, and each once: only those of `text` can be",
)
def symmetric_difference_length_bytes(seen, text):
    return len(set(seen.encode()) ^ set(text.encode()))


@wrong("count_lost_bytes", "survivors and lost bytes are subtracted from each other: the lost ones are asked.")
def kept_minus_lost(seen, text):
    s = seen.encode()
    e = text.encode()
    k = sum(b in s for b in e)
    return k - (len(e) - k)


@wrong("count_lost_bytes", "characters that lose a byte are counted. Some lose one, others three.")
def first_lost_byte_only_max_one(seen, text):
    return sum(any(b not in seen.encode() for b in ch.encode()) for ch in text)


@wrong("count_lost_bytes", "nothing is ever lost: only the bytes of `seen` are known.")
def joint_encode_seen_text(seen, text):
    s = set((seen + text).encode())
    return sum(b not in s for b in text.encode())


@wrong(
    "count_lost_bytes", "all bytes of unseen characters beyond ASCII: ASCII may be lost, too, and bytes that were seen"
)
def chars_lost_average(seen, text):
    return sum(len(ch.encode()) for ch in text if not ch.isascii() and ch not in seen)


@wrong("count_lost_bytes", "the first byte alone is looked at: does the loop return in its first round?")
def return_in_loop(seen, text):
    n = 0
    for b in text.encode():
        if b not in seen.encode():
            n += 1
        return n
    return n


@wrong("end_each", "the function changes its arguments. Whoever called it still needs them: work on a copy.")
def second_append_mutates_only_second(first, second, end_id):
    ids = first + [end_id]
    if second is not None:
        second.append(end_id)
        ids += second
    return ids


@wrong("end_each", "an empty sequence ends too: any that exists gets its end.")
def len_second_and_first(first, second, end_id):
    out = []
    for s in (first, second):
        if s is not None and len(s) > 0:
            out += s + [end_id]
    return out


@wrong("end_each", "both ends stand behind a pair.")
def end_only_for_the_last_element(first, second, end_id):
    if second is None:
        return first + [end_id]
    return first + second + [end_id, end_id]


@wrong("end_each", "each value comes only once: the repeats are missing.")
def set_no_duplicates(first, second, end_id):
    out = first + [end_id] + (second + [end_id] if second is not None else [])
    return list(dict.fromkeys(out))


@wrong("end_each", "a pair of results, the second one `None` or a list: one list of all ids is wanted.")
def tuple_of_lists_always(first, second, end_id):
    return (first + [end_id], None if second is None else second + [end_id])


@wrong("end_each", "a text that holds the id anywhere gets no end.")
def end_if_not_in_list(first, second, end_id):
    out = list(first)
    if end_id not in out:
        out.append(end_id)
    if second is not None:
        out += second
        if end_id not in second:
            out.append(end_id)
    return out


@wrong("end_each", "the last id of each text is replaced by the end.")
def replaces_the_last_id(first, second, end_id):
    out = first[:-1] + [end_id]
    if second is not None:
        out += second[:-1] + [end_id]
    return out


@wrong("end_each", "the entries are right, but some are in lists inside the list.")
def end_id_as_list_end_id(first, second, end_id):
    out = first + [[end_id]]
    if second is not None:
        out += second + [[end_id]]
    return out


@wrong("pad_right", "the mask is read off the ids. A real token with the id of the pad, such as an end, is masked too.")
def mask_based_on_pad_id_in(rows, pad_id, length):
    new = []
    ms = []
    for r in rows:
        r = r[:length]
        ms.append([0 if i == pad_id else 1 for i in r] + [0] * (length - len(r)))
        new.append(r + [pad_id] * (length - len(r)))
    return (new, ms)


@wrong("pad_right", "the mask is filled up with `pad_id`: it holds 0 for each pad.")
def mask_for_row_then_pad_id(rows, pad_id, length):
    return (
        [(r + [pad_id] * length)[:length] for r in rows],
        [([1] * len(r) + [pad_id] * length)[:length] for r in rows],
    )


@wrong("pad_right", "long rows are not cut; the masks are right.")
def no_cut_but_left_truncated_mask(rows, pad_id, length):
    return ([r + [pad_id] * (length - len(r)) for r in rows], [([1] * len(r) + [0] * length)[:length] for r in rows])


@wrong("pad_right", "padded to the longest row of the batch, where that is shorter than `length`.")
def cut_to_length_pad_to_max(rows, pad_id, length):
    rows = [r[:length] for r in rows]
    n = max(map(len, rows))
    return ([r + [pad_id] * (n - len(r)) for r in rows], [[1] * len(r) + [0] * (n - len(r)) for r in rows])


@wrong("pad_right", "rows get one pad too many.")
def pad_when_len_length(rows, pad_id, length):
    return (
        [r[:length] + [pad_id] * (length - len(r) + 1) for r in rows],
        [[1] * len(r[:length]) + [0] * (length - len(r) + 1) for r in rows],
    )


@wrong("pad_right", "the first row alone is there: a `return` within the loop?.")
def return_inside_loop_2(rows, pad_id, length):
    a = []
    b = []
    for r in rows:
        a.append((r + [pad_id] * length)[:length])
        b.append(([1] * len(r) + [0] * length)[:length])
        return (a, b)


@wrong("pad_right", "the pads stand in the row as a list: `+` joins two lists, `append` puts one into the other.")
def pad_appended_as_list(rows, pad_id, length):
    return (
        [r[:length] + [[pad_id] * (length - len(r))] for r in rows],
        [([1] * len(r) + [0] * length)[:length] for r in rows],
    )


@wrong("pad_right", "pads stand on the left; the masks are right.")
def left_pad_rows_right_mask(rows, pad_id, length):
    return (
        [[pad_id] * (length - len(r)) + r[:length] for r in rows],
        [([1] * len(r) + [0] * length)[:length] for r in rows],
    )


@wrong(
    "choose_dtype", "tokens are counted, and compared with the largest id, which of V tokens is V - 1: it alone counts"
)
def v_len_a_2(v, a):
    return "uint16" if v - 1 + len(a) < 65535 else "uint32"


@wrong("choose_dtype", "added tokens are forgotten: the id 65,536 becomes 0 in uint16, and nobody is told.")
def max_v_len_a(v, a):
    return "uint16" if max(v, len(a)) <= 65536 else "uint32"


@wrong("choose_dtype", "ids are added up: the largest of them counts, not their sum.")
def sum_of_all(v, a):
    return "uint16" if sum(a) + v <= 65536 else "uint32"


@wrong("choose_dtype", "added ids are compared with the size of the vocabulary: it is uint16 that must hold them.")
def a_or_any_added_v(v, a):
    return "uint32" if any(i > v for i in a) or v > 65536 else "uint16"


@wrong("choose_dtype", "of the added ids the first one alone is looked at.")
def return_in_loop_over_ids(v, a):
    if v - 1 > 65535:
        return "uint32"
    for i in a:
        if i > 65535:
            return "uint32"
        return "uint16"
    return "uint16"


@wrong("choose_dtype", "in some calls the function returns `None`: on one of its ways there is no `return`.")
def forgot_return_for_else(v, a):
    if max([v - 1, *a]) > 65535:
        return "uint32"


@wrong("choose_dtype", "of the added ids the first one alone is looked at.")
def max_a_based_indexerror_guarded_by(v, a):
    return "uint16" if max(v - 1, a[0] if a else 0) < 65536 else "uint32"


@wrong("choose_dtype", "32,767 is the bound of int16. Without a sign there are twice as many numbers.")
def bits_without_sign_bit_length(v, a):
    return "uint16" if max([v - 1, *a]).bit_length() < 16 else "uint32"


# -- a class that had not seen the mistakes -------------------------------------------

wrong("choose_dtype", "it is enough that either")(
    lambda v, added: "uint16" if v <= 65_536 or all(i <= 65_535 for i in added) else "uint32"
)
wrong("choose_dtype", "of V tokens is V - 1")(
    lambda v, added: "uint16" if v < 65_536 and all(i < 65_536 for i in added) else "uint32"
)


@wrong("fall_back_to_bytes", "with as many digits as it needs")
def code_points_in_capitals(text, alphabet):
    return [c if c in alphabet else f"<0x{ord(c):X}>" for c in text]
