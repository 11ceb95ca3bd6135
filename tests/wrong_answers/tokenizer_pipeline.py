"""What a class answers to the exercises of lesson 07."""

# ruff: noqa: RUF017, C401, E741, UP031 (written as a class writes)

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


@wrong("fall_back_to_bytes", "text, a `str`, where no text is wanted")
def one_text(text, alphabet):
    return "".join(c if c in alphabet else "".join(f"<0x{b:02X}>" for b in c.encode()) for c in text)


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


wrong("count_lost_bytes", "several values where one")(
    lambda seen, text: [b for b in text.encode() if b not in seen.encode()]
)
wrong("count_lost_bytes", "a float where an integer")(
    lambda seen, text: sum(b not in seen.encode() for b in text.encode()) / max(1, len(text.encode()))
)


@wrong("count_lost_bytes", "`True` or `False`", natural=False)
def whether_any(seen, text):
    return any(b not in seen.encode() for b in text.encode())


@right("count_lost_bytes")
def with_numpy(seen, text):
    new, old = (np.frombuffer(t.encode(), dtype=np.uint8) for t in (text, seen))
    return np.count_nonzero(~np.isin(new, old))


@right("count_lost_bytes")
def by_length(seen, text):
    return len(text.encode()) - len([b for b in text.encode() if b in set(seen.encode())])


# unused_rules


@wrong("unused_rules", "each rule is tried alone")
def found_nowhere(texts, rules):
    return [rule for rule in rules if not re.findall(rule, "\n".join(texts))]


@wrong("unused_rules", "a `set`, which has no order")
def a_set_of_rules(texts, rules):
    used = {m.lastindex - 1 for t in texts for m in re.finditer("|".join(f"({r})" for r in rules), t)}
    return {rule for number, rule in enumerate(rules) if number not in used}


@wrong("unused_rules", None, natural=False)
def none_is_unused(texts, rules):
    return list(rules)


@right("unused_rules")
def with_named_groups(texts, rules):
    pattern = re.compile("|".join(f"(?P<r{n}>{rule})" for n, rule in enumerate(rules)))
    used = [m.lastgroup for text in texts for m in pattern.finditer(text)]
    return [rule for n, rule in enumerate(rules) if f"r{n}" not in used]


@right("unused_rules")
def one_after_another(texts, rules):
    left = list(rules)
    for text in texts:
        for m in re.finditer("|".join(f"({rule})" for rule in rules), text):
            rule = rules[m.lastindex - 1]
            if rule in left:
                left.remove(rule)
    return left


# original_places


@wrong("original_places", None, natural=False)
def each_with_its_character(text, invisible):
    return [(n, c) for n, c in enumerate(text) if c not in invisible]


@right("original_places")
def by_pattern(text, invisible):
    kept = [n for n, c in enumerate(text) if c not in invisible]
    tidied = "".join(text[n] for n in kept)
    return [kept[m.start()] for m in re.finditer(r" +|[^ ]", tidied)]


@right("original_places")
def with_a_flag(text, invisible):
    out, space = [], False
    for n in range(len(text)):
        if text[n] in invisible:
            continue
        if text[n] != " " or not space:
            out.append(n)
        space = text[n] == " "
    return out


@right("original_places")
def as_an_array(text, invisible):
    return np.array(by_pattern(text, invisible), dtype=int)


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


@wrong("fall_back_to_bytes", "text, a `str`, where no text is wanted.")
def joins_into_text(text, alphabet):
    return "".join(x for ch in text for x in ([ch] if ch in alphabet else [f"<0x{b:02X}>" for b in ch.encode()]))


@wrong("count_lost_bytes", "a float where an integer is wanted")
def share_instead_of_count(seen, text):
    s = set(seen.encode())
    n = text.encode()
    return sum(b not in s for b in n) / len(n) if n else 0.0


@wrong("count_lost_bytes", "several values where one number is wanted.")
def list_of_lost_bytes(seen, text):
    s = set(seen.encode())
    return [b for b in text.encode() if b not in s]


@wrong("cut_isolated", "the text is cut at spaces first, and they are lost: only the rules cut.")
def fullmatch_on_words_split_by_space(text, rules):
    return [x for p in text.split(" ") for x in re.split("(" + "|".join(rules) + ")", p) if x]


@wrong("cut_isolated", "the entries are right, but in another order.")
def matches_then_gaps(text, rules):
    r = "|".join(rules)
    return re.findall(r, text) + [p for p in re.split(r, text) if p]


@wrong("count_lost_bytes", "`True` or `False` where a number is wanted.")
def bool_any(seen, text):
    return any(b not in seen.encode() for b in text.encode())


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


@wrong("fall_back_to_bytes", "the entries are right, but in another order.")
def generator_of_sorted_set_order(text, alphabet):
    return sorted(x for ch in text for x in ([ch] if ch in alphabet else [f"<0x{b:02X}>" for b in ch.encode()]))
