"""Answers to the exercises of lesson 6: right ones, and wrong ones with words of what
they are told."""

import codecs
import re
from itertools import pairwise

from course_lib.bpe import merge_history
from course_lib.bpe.one_screen import count_pairs, merge_pair
from course_lib.exercises.bpe import (
    apply_merges,
    complete_bytes,
    swallowed,
    tokens_saved,
)
from course_lib.teaching.checker import FAILED, PASSED


def saved_by_merging(words, pair):
    before = sum(len(word) * n for word, n in words.items())
    after = sum(len(merge_pair(word, pair, 99)) * n for word, n in words.items())
    return before - after


def saved_with_a_skip(words, pair):
    saved = 0
    for word, n in words.items():
        skip = False
        for one, other in pairwise(word):
            if not skip and (one, other) == pair:
                saved += n
                skip = True
            else:
                skip = False
    return saved


def saved_with_overlaps(words, pair):
    saved = 0
    for word, n in words.items():
        for i in range(len(word) - 1):
            if word[i] == pair[0] and word[i + 1] == pair[1]:
                saved += n
    return saved


def saved_in_distinct_words(words, pair):
    return sum(len(word) - len(merge_pair(word, pair, -1)) for word in words)


def saved_once_a_word(words, pair):
    saved = 0
    for word, n in words.items():
        for i in range(len(word) - 1):
            if word[i : i + 2] == pair:
                saved += n
                break
    return saved


def saved_across_words(words, pair):
    text = []
    for word, n in words.items():
        text += list(word) * n
    return len(text) - len(merge_pair(text, pair, -1))


def merged_in_place(word, merges):
    tokens = list(word)
    for left, right in merges:
        i = 0
        while i + 1 < len(tokens):
            if (tokens[i], tokens[i + 1]) == (left, right):
                tokens[i] += tokens.pop(i + 1)
            i += 1
    return tokens


def lowest_rank_first(word, merges):
    rank = {pair: number for number, pair in enumerate(merges)}
    tokens = list(word)
    while len(tokens) > 1:
        pairs = list(pairwise(tokens))
        best = min(pairs, key=lambda pair: rank.get(pair, len(rank)))
        if best not in rank:
            break
        i = pairs.index(best)
        tokens = [*tokens[:i], "".join(best), *tokens[i + 2 :]]
    return tokens


def merged_as_ids(word, merges):
    names = sorted({*word, *(t for pair in merges for t in pair), *map("".join, merges)})
    ids = [names.index(character) for character in word]
    for left, right in merges:
        pair = names.index(left), names.index(right)
        ids = merge_pair(ids, pair, names.index(left + right))
    return [names[i] for i in ids]


def merged_from_the_left(word, merges):
    tokens = list(word)
    i = 0
    while i < len(tokens) - 1:
        if (tokens[i], tokens[i + 1]) in merges:
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
            i = 0
        else:
            i += 1
    return tokens


def merged_as_text(word, merges):
    text = " ".join(word)
    for pair in merges:
        text = text.replace(" ".join(pair), "".join(pair))
    return text.split()


def never_equal(word, merges):
    tokens = list(word)
    for left, right in merges:
        i = 0
        while i < len(tokens) - 1:
            if tokens[i : i + 2] == (left, right):
                tokens[i : i + 2] = [left + right]
            i += 1
    return tokens


def greedy(word, merges):
    vocabulary = {left + right for left, right in merges} | set(word)
    tokens = []
    while word:
        end = len(word)
        while word[:end] not in vocabulary:
            end -= 1
        tokens.append(word[:end])
        word = word[end:]
    return tokens


def one_merge(word, merges):
    tokens = list(word)
    for left, right in merges:
        merged, i = [], 0
        while i < len(tokens):
            if tokens[i : i + 2] == [left, right]:
                merged.append(left + right)
                i += 2
            else:
                merged.append(tokens[i])
                i += 1
        return merged
    return tokens


def swallowed_one_by_one(words, merges):
    encoded = [merge_history(word, merges)[-1] for word in words]
    return sorted(i for i in merges.values() if not any(i in ids for ids in encoded))


def swallowed_in_one_place(words, merges):
    stages = [i for w in words for ids in merge_history(w, merges) for i in set(ids)]
    left = swallowed(words, merges)
    return [new_id for new_id in left if stages.count(new_id) <= 1]


def swallowed_as_left_over(words, merges):
    left = set(merges.values())
    for word in words:
        for token in merge_history(list(word), merges)[-1]:
            left.discard(token)
    return sorted(left)


def seen_at_any_time(words, merges):
    seen = set()
    for word in words:
        for ids in merge_history(word, merges):
            seen |= set(ids)
    return sorted(set(merges.values()) - seen)


def missing_somewhere(words, merges):
    missing = set()
    for word in words:
        missing |= set(merges.values()) - set(merge_history(word, merges)[-1])
    return sorted(missing)


def parts_of_others(words, merges):
    parts = {i for pair in merges for i in pair}
    return sorted(i for i in merges.values() if i in parts)


def in_order_of_learning(words, merges):
    seen = {i for word in words for i in merge_history(word, merges)[-1]}
    return [i for i in merges.values() if i not in seen]


def whole_by_trying(data):
    for end in range(len(data), -1, -1):
        try:
            data[:end].decode()
            return end
        except UnicodeDecodeError:
            pass


def whole_by_an_incremental_decoder(data):
    return len(codecs.getincrementaldecoder("utf-8")().decode(data).encode())


def whole_by_a_pattern(data):
    half = rb"([\xc0-\xdf]|[\xe0-\xef].?|[\xf0-\xf7].{0,2})\Z"
    found = re.search(half, data, re.DOTALL)
    return found.start() if found else len(data)


def all_or_nothing(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return 0
    return len(data)


def without_replacements(data):
    text = data.decode(errors="replace")
    while text.endswith("\ufffd"):
        text = text[:-1]
    return len(text.encode())


def saved_wherever_both_occur(words, pair):
    saved = 0
    for word, n in words.items():
        saved += n * min(word.count(pair[0]), word.count(pair[1]))
    return saved


def merged_once_a_word(word, merges):
    tokens = list(word)
    for left, right in merges:
        for place in range(len(tokens) - 1):
            if tokens[place] == left and tokens[place + 1] == right:
                tokens[place : place + 2] = [left + right]
                break
    return tokens


def without_the_last_token(word, merges):
    tokens = list(word)
    for left, right in merges:
        merged, i = [], 0
        while i < len(tokens) - 1:
            if tokens[i] == left and tokens[i + 1] == right:
                merged.append(left + right)
                i += 2
            else:
                merged.append(tokens[i])
                i += 1
        tokens = merged
    return tokens


def those_that_occur(words, merges):
    left = set()
    for word in words:
        left |= {token for token in merge_history(word, merges)[-1] if token in merges.values()}
    return sorted(left)


def in_one_long_word(words, merges):
    everything = [id for word in words for id in word]
    tokens = merge_history(everything, merges)[-1]
    return [new for new in sorted(merges.values()) if new not in tokens]


def waits_for_one_byte(data):
    try:
        data.decode()
        return len(data)
    except UnicodeDecodeError:
        return len(data) - 1


ANSWERS = [
    (tokens_saved, saved_by_merging, PASSED),
    (tokens_saved, saved_with_a_skip, PASSED),
    (tokens_saved, saved_with_overlaps, "overlapping"),
    (tokens_saved, lambda words, pair: count_pairs(words)[pair], "overlapping"),
    (tokens_saved, saved_in_distinct_words, "each distinct word once"),
    (tokens_saved, saved_once_a_word, "at most one merge in a word"),
    (tokens_saved, saved_across_words, "no merge crosses a cut"),
    (tokens_saved, lambda words, pair: len(words), FAILED),
    (apply_merges, merged_in_place, PASSED),
    (apply_merges, lowest_rank_first, PASSED),
    (apply_merges, merged_as_ids, PASSED),
    (apply_merges, merged_from_the_left, "merge from left to right"),
    (apply_merges, merged_as_text, "a text with spaces"),
    (apply_merges, never_equal, "never equal"),
    (apply_merges, greedy, FAILED),
    (apply_merges, one_merge, "can be merged again"),
    (
        apply_merges,
        lambda word, merges: merged_in_place(word, sorted(merges)),
        FAILED,
    ),
    (swallowed, swallowed_one_by_one, PASSED),
    (swallowed, swallowed_as_left_over, PASSED),
    (swallowed, seen_at_any_time, "all stages"),
    (swallowed, missing_somewhere, "*no* word"),
    (swallowed, parts_of_others, "elsewhere on its own"),
    (swallowed, in_order_of_learning, "in the wrong order"),
    (swallowed, lambda words, merges: len(swallowed(words, merges)), "one value where"),
    (complete_bytes, whole_by_trying, PASSED),
    (complete_bytes, whole_by_an_incremental_decoder, PASSED),
    (complete_bytes, whole_by_a_pattern, PASSED),
    (complete_bytes, all_or_nothing, "all or nothing"),
    (complete_bytes, without_replacements, "U+FFFD"),
    (
        complete_bytes,
        lambda data: len(data.decode(errors="ignore")),
        "characters, not bytes",
    ),
    (
        complete_bytes,
        lambda data: len([byte for byte in data if byte <= 127]),
        "only ASCII",
    ),
    (complete_bytes, lambda data: len(data) - 1 if data else 0, "always late"),
    (complete_bytes, lambda data: len(data) - len(data) % 3, FAILED),
    (tokens_saved, saved_wherever_both_occur, "side by side"),
    (apply_merges, merged_once_a_word, "only once in a word"),
    (apply_merges, without_the_last_token, "lose the last token"),
    (swallowed, those_that_occur, "not those that don't"),
    (swallowed, swallowed_in_one_place, FAILED),
    (swallowed, in_one_long_word, "you join the words"),
    (complete_bytes, waits_for_one_byte, "at most one byte wait"),
]
