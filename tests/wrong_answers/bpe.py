"""What a class answers in lesson 06."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np

from course_lib.bpe import best_pair, merge_history, merge_pair, pair_counts
from wrong_answers import refused, right, wrong

# tokens_saved


@right("tokens_saved")
def by_merging(words, pair):
    return sum((len(ids) - len(merge_pair(ids, pair, -1))) * count for ids, count in words.items())


@right("tokens_saved")
def by_text_with_separators(words, pair):
    text = {ids: ",," + ",,".join(map(str, ids)) + ",," for ids in words}
    return sum(t.count(f",{pair[0]},,{pair[1]},") * words[ids] for ids, t in text.items())


@right("tokens_saved")
def as_an_integer_of_numpy(words, pair):
    return np.sum([(len(w) - len(merge_pair(w, pair, -1))) * n for w, n in words.items()], dtype=int)


@wrong("tokens_saved", "overlap are counted twice")
def all_pairs(words, pair):
    saved = 0
    for ids, count in words.items():
        for i in range(len(ids) - 1):
            if (ids[i], ids[i + 1]) == pair:
                saved += count
    return saved


@wrong("tokens_saved", "each distinct word counts once")
def no_frequency(words, pair):
    saved = 0
    for ids in words:
        saved += len(ids) - len(merge_pair(ids, pair, 0))
    return saved


@wrong("tokens_saved", "each distinct word counts once")
def no_frequency_and_overlap(words, pair):
    return sum(1 for ids in words for two in pairwise(ids) if two == pair)


@wrong("tokens_saved", "a word at most")
def first_place(words, pair):
    saved = 0
    for ids, count in words.items():
        for two in pairwise(ids):
            if two == pair:
                saved += count
                break
    return saved


@wrong("tokens_saved", "two ids for each merge")
def twice(words, pair):
    return sum(2 * (len(ids) - len(merge_pair(ids, pair, 0))) * count for ids, count in words.items())


wrong("tokens_saved", "two ids for each merge", natural=False)(lambda words, pair: 2 * by_merging(words, pair))


@wrong("tokens_saved", "from one word into the next")
def one_long_text(words, pair):
    text = []
    for ids, count in words.items():
        text += list(ids) * count
    return len(text) - len(merge_pair(text, pair, 0))


@wrong("tokens_saved", "how many ids are left")
def new_length(words, pair):
    return sum(len(merge_pair(ids, pair, 0)) * count for ids, count in words.items())


@wrong("tokens_saved", "begin at places 0, 2, 4")
def even_places(words, pair):
    saved = 0
    for ids, count in words.items():
        for i in range(0, len(ids) - 1, 2):
            if ids[i : i + 2] == pair:
                saved += count
    return saved


@wrong("tokens_saved", "the very end of a word")
def stops_too_early(words, pair):
    saved = 0
    for ids, count in words.items():
        i = 0
        while i < len(ids) - 2:
            if (ids[i], ids[i + 1]) == pair:
                saved += count
                i += 2
            else:
                i += 1
    return saved


@wrong("tokens_saved", "the very beginning of a word")
def starts_too_late(words, pair):
    saved = 0
    for ids, count in words.items():
        i = 1
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == pair:
                saved += count
                i += 2
            else:
                i += 1
    return saved


@wrong("tokens_saved", "stand side by side")
def rarer_id(words, pair):
    return sum(min(ids.count(pair[0]), ids.count(pair[1])) * n for ids, n in words.items())


@wrong("tokens_saved", "as text")
def in_the_text_of_ids(words, pair):
    wanted = ",".join(map(str, pair))
    return sum(",".join(map(str, ids)).count(wanted) * count for ids, count in words.items())


@wrong("tokens_saved", "each distinct word counts once")
def number_of_words(words, pair):
    return len([ids for ids in words if pair in list(pairwise(ids))])


@wrong("tokens_saved", "inside the loop ends it")
def returns_in_the_loop(words, pair):
    saved = 0
    for ids, count in words.items():
        saved += (len(ids) - len(merge_pair(ids, pair, 0))) * count
        return saved
    return 0


@wrong("tokens_saved", "(1, 2) and (2, 1)")
def any_order(words, pair):
    saved = 0
    for ids, count in words.items():
        i = 0
        while i < len(ids) - 1:
            if {ids[i], ids[i + 1]} == set(pair):
                saved += count
                i += 2
            else:
                i += 1
    return saved


@wrong("tokens_saved", "nothing is ever found")
def counts_the_pair_as_an_entry(words, pair):
    return sum(ids.count(pair) * count for ids, count in words.items())


@wrong("tokens_saved", "did not end", ends=False)
def no_step_after_a_pair(words, pair):
    saved = 0
    for ids, count in words.items():
        i = 0
        while i < len(ids) - 1:
            if ids[i : i + 2] == pair:
                saved += count
            else:
                i += 1
    return saved


@wrong("tokens_saved", "the last word alone")
def of_the_last_word(words, pair):
    for ids, count in words.items():
        saved = (len(ids) - len(merge_pair(ids, pair, 0))) * count
    return saved


wrong("tokens_saved", "one is added to it", natural=False)(lambda words, pair: pair_counts(words)[pair] + 1)

# best_short_pair


def fitting(counts, num_bytes, longest):
    return {p: n for p, n in counts.items() if num_bytes[p[0]] + num_bytes[p[1]] <= longest}


@right("best_short_pair")
def by_sorting(counts, num_bytes, longest):
    ranked = sorted((-n, p) for p, n in fitting(counts, num_bytes, longest).items())
    return ranked[0][1] if ranked else None


@right("best_short_pair")
def by_a_loop(counts, num_bytes, longest):
    best = None
    for pair in sorted(counts):
        if sum(num_bytes[part] for part in pair) > longest:
            continue
        if best is None or counts[pair] > counts[best]:
            best = pair
    return best


@right("best_short_pair")
def as_a_list(counts, num_bytes, longest):
    best = by_sorting(counts, num_bytes, longest)
    return best and list(best)


@wrong("best_short_pair", "exactly `longest`")
def less_than(counts, num_bytes, longest):
    allowed = [p for p in counts if num_bytes[p[0]] + num_bytes[p[1]] < longest]
    return min(allowed, key=lambda p: (-counts[p], p)) if allowed else None


@wrong("best_short_pair", "plays no part")
def ignores_the_bound(counts, num_bytes, longest):
    return min(counts, key=lambda p: (-counts[p], p)) if counts else None


@wrong("best_short_pair", "chosen first")
def best_or_none(counts, num_bytes, longest):
    if not counts:
        return None
    a, b = min(counts, key=lambda p: (-counts[p], p))
    return (a, b) if num_bytes[a] + num_bytes[b] <= longest else None


@wrong("best_short_pair", "each part has at most")
def both_parts_fit(counts, num_bytes, longest):
    allowed = [p for p in counts if num_bytes[p[0]] <= longest and num_bytes[p[1]] <= longest]
    return min(allowed, key=lambda p: (-counts[p], p)) if allowed else None


@wrong("best_short_pair", "only the first part")
def left_part(counts, num_bytes, longest):
    allowed = [(a, b) for a, b in counts if num_bytes[a] <= longest]
    return min(allowed, key=lambda p: (-counts[p], p)) if allowed else None


@wrong("best_short_pair", "ids themselves are added")
def sum_of_ids(counts, num_bytes, longest):
    allowed = [(a, b) for a, b in counts if a + b <= longest]
    return min(allowed, key=lambda p: (-counts[p], p)) if allowed else None


@wrong("best_short_pair", "always 2")
def length_two(counts, num_bytes, longest):
    allowed = [p for p in counts if len(p) <= longest]
    return min(allowed, key=lambda p: (-counts[p], p)) if allowed else None


@wrong("best_short_pair", "counted first")
def max_by_count(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    return max(allowed, key=allowed.get) if allowed else None


@wrong("best_short_pair", "counted first")
def most_common(counts, num_bytes, longest):
    allowed = Counter(fitting(counts, num_bytes, longest))
    return allowed.most_common(1)[0][0] if allowed else None


@wrong("best_short_pair", "maximizes both")
def max_of_both(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    return max(allowed, key=lambda p: (allowed[p], p)) if allowed else None


@wrong("best_short_pair", "*largest* second")
def minus_the_second(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-allowed[p], p[0], -p[1])) if allowed else None


@wrong("best_short_pair", "`-p[0]`")
def minus_the_first(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-allowed[p], -p[0], p[1])) if allowed else None


@wrong("best_short_pair", "the second id has to decide")
def first_id_only(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-allowed[p], p[0])) if allowed else None


@wrong("best_short_pair", "the second id decides")
def second_before_first(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-allowed[p], p[1], p[0])) if allowed else None


@wrong("best_short_pair", "the rarest")
def forgot_the_minus(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (allowed[p], p)) if allowed else None


@wrong("best_short_pair", "however rare")
def forgot_the_count(counts, num_bytes, longest):
    return min(fitting(counts, num_bytes, longest), default=None)


@wrong("best_short_pair", "the longest token")
def longest_first(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    key = lambda p: (-(num_bytes[p[0]] + num_bytes[p[1]]), -allowed[p], p)
    return min(allowed, key=key) if allowed else None


@wrong("best_short_pair", "nothing to choose from")
def without_a_default(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    return min(allowed, key=lambda p: (-allowed[p], p))


@wrong("best_short_pair", "`[0]` of an empty list")
def first_of_sorted(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest)
    return sorted(allowed, key=lambda p: (-allowed[p], p))[0]


@wrong("best_short_pair", "Nothing is")
def best_of_all_then(counts, num_bytes, longest):
    allowed = fitting(counts, num_bytes, longest) or counts
    return min(allowed, key=lambda p: (-counts[p], p), default=None)


@wrong("best_short_pair", "the count of the pair")
def highest_count(counts, num_bytes, longest):
    best = by_sorting(counts, num_bytes, longest)
    return counts[best] if best else None


@wrong("best_short_pair", "something empty is returned")
def an_empty_tuple(counts, num_bytes, longest):
    return by_sorting(counts, num_bytes, longest) or ()


wrong("best_short_pair", "the sum of the ids", natural=False)(
    lambda counts, num_bytes, longest: min(
        fitting(counts, num_bytes, longest), key=lambda p: (-counts[p], sum(p)), default=None
    )
)
wrong("best_short_pair", "shortest token", natural=False)(
    lambda counts, num_bytes, longest: min(
        fitting(counts, num_bytes, longest),
        key=lambda p: (-counts[p], num_bytes[p[0]] + num_bytes[p[1]], p),
        default=None,
    )
)

# undo_merges


def parts_of(merges):
    return {new_id: pair for pair, new_id in merges.items()}


@right("undo_merges")
def by_recursion(ids, merges):
    parts = parts_of(merges)

    def undo(token):
        return undo(parts[token][0]) + undo(parts[token][1]) if token in parts else [token]

    return [byte for token in ids for byte in undo(token)]


@right("undo_merges")
def by_a_stack(ids, merges):
    parts, stack, result = parts_of(merges), list(ids[::-1]), []
    while stack:
        token = stack.pop()
        if token in parts:
            stack += parts[token][::-1]
        else:
            result.append(token)
    return result


@right("undo_merges")
def until_none_is_left(ids, merges):
    parts = parts_of(merges)
    while any(token in parts for token in ids):
        ids = [part for token in ids for part in parts.get(token, [token])]
    return tuple(ids)


@right("undo_merges")
def as_an_array(ids, merges):
    return np.array(by_a_stack(ids, merges), dtype=np.int64)


@wrong("undo_merges", "one level only")
def once(ids, merges):
    parts = parts_of(merges)
    result = []
    for token in ids:
        result.extend(parts.get(token, (token,)))
    return result


@wrong("undo_merges", "one level only")
def in_learned_order(ids, merges):
    for pair, new_id in merges.items():
        result = []
        for token in ids:
            result += list(pair) if token == new_id else [token]
        ids = result
    return ids


@wrong("undo_merges", "change places")
def exchanged(ids, merges):
    for (left, right_part), new_id in reversed(merges.items()):
        result = []
        for token in ids:
            result += [right_part, left] if token == new_id else [token]
        ids = result
    return ids


@wrong("undo_merges", "back to front")
def reversed_stack(ids, merges):
    parts, stack, result = parts_of(merges), list(ids), []
    while stack:
        token = stack.pop()
        if token in parts:
            stack += parts[token]
        else:
            result.append(token)
    return result


@wrong("undo_merges", "only the first part")
def follows_the_left(ids, merges):
    parts = parts_of(merges)
    result = []
    for token in ids:
        while token in parts:
            token = parts[token][0]
        result.append(token)
    return result


@wrong("undo_merges", "stay beside")
def keeps_them(ids, merges):
    parts, stack, result = parts_of(merges), list(ids[::-1]), []
    while stack:
        token = stack.pop()
        result.append(token)
        stack += parts.get(token, ())[::-1]
    return result


@wrong("undo_merges", "ids that no merge made are lost")
def only_the_merged(ids, merges):
    parts = parts_of(merges)
    result = []
    for token in ids:
        if token in parts:
            result += parts[token]
    return result


@wrong("undo_merges", "lists inside lists")
def appends_pairs(ids, merges):
    parts = parts_of(merges)

    def undo(token):
        return [undo(part) for part in parts[token]] if token in parts else token

    return [undo(token) for token in ids]


@wrong("undo_merges", "lists inside the list")
def tuples_inside(ids, merges):
    for pair, new_id in reversed(merges.items()):
        ids = [pair if token == new_id else token for token in ids]
    return ids


@wrong("undo_merges", "that merges")
def the_other_way(ids, merges):
    return merge_history(ids, merges)[-1]


@wrong("undo_merges", "at its first place only")
def by_index(ids, merges):
    ids = list(ids)
    for pair, new_id in reversed(merges.items()):
        if new_id in ids:
            i = ids.index(new_id)
            ids = ids[:i] + list(pair) + ids[i + 1 :]
    return ids


@wrong("undo_merges", "replaced as text")
def by_replacing_text(ids, merges):
    text = " ".join(str(token) for token in ids)
    for (left, right_part), new_id in reversed(merges.items()):
        text = text.replace(str(new_id), f"{left} {right_part}")
    return [int(token) for token in text.split()]


@wrong("undo_merges", "changes its arguments")
def in_place(ids, merges):
    parts = parts_of(merges)
    i = 0
    while i < len(ids):
        if ids[i] in parts:
            ids[i : i + 1] = parts[ids[i]]
        else:
            i += 1
    return ids


@wrong("undo_merges", "one level only")
def skips_what_it_made(ids, merges):
    ids, parts, i = list(ids), parts_of(merges), 0
    while i < len(ids):
        if ids[i] in parts:
            ids[i : i + 1] = parts[ids[i]]
            i += 2
        else:
            i += 1
    return ids


@wrong("undo_merges", "changes under the loop")
def moves_under_the_loop(ids, merges):
    ids, parts = list(ids), parts_of(merges)
    for i in range(len(ids)):
        if ids[i] in parts:
            ids[i : i + 1] = parts[ids[i]]
    return ids


@wrong("undo_merges", "did not end", ends=False)
def forever(ids, merges):
    ids, parts, i = list(ids), parts_of(merges), 0
    while i < len(ids):
        if ids[i] not in parts:
            i += 1
    return ids


@wrong("undo_merges", "did not end", ends=False)
def forever_at_bytes(ids, merges):
    ids, parts, i = list(ids), parts_of(merges), 0
    while i < len(ids):
        if ids[i] in parts:
            ids[i : i + 1] = parts[ids[i]]
    return ids


@wrong("undo_merges", "a `set`", natural=False)
def unordered(ids, merges):
    return set(by_a_stack(ids, merges))


# apply_merges


@right("apply_merges")
def by_rank(word, merges):
    rank = {pair: number for number, pair in enumerate(merges)}
    tokens = list(word)
    while len(tokens) > 1:
        best = min(pairwise(tokens), key=lambda pair: rank.get(pair, len(rank)))
        if best not in rank:
            break
        joined, i = [], 0
        while i < len(tokens):
            if tuple(tokens[i : i + 2]) == best:
                joined.append("".join(best))
                i += 2
            else:
                joined.append(tokens[i])
                i += 1
        tokens = joined
    return tokens


@right("apply_merges")
def by_deleting(word, merges):
    tokens = list(word)
    for pair in merges:
        i = 0
        while i < len(tokens) - 1:
            if (tokens[i], tokens[i + 1]) == pair:
                tokens[i] += tokens.pop(i + 1)
            i += 1
    return tokens


@right("apply_merges")
def by_regular_expression(word, merges):
    text = " ".join(word)
    for a, b in merges:
        text = re.sub(rf"(?<!\S){a} {b}(?!\S)", a + b, text)
    return text.split()


@right("apply_merges")
def as_a_tuple(word, merges):
    return tuple(by_deleting(word, merges))


@wrong("apply_merges", "from left to right, whatever")
def leftmost(word, merges):
    tokens, i = list(word), 0
    while i < len(tokens) - 1:
        if (tokens[i], tokens[i + 1]) in merges:
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
            i = 0
        else:
            i += 1
    return tokens


@wrong("apply_merges", "rightmost pair first")
def rightmost(word, merges):
    tokens, i = list(word), len(word) - 2
    while i >= 0:
        if (tokens[i], tokens[i + 1]) in merges:
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
            i = len(tokens) - 2
        else:
            i -= 1
    return tokens


def repeatedly(word, merges, choose):
    tokens = list(word)
    while found := [pair for pair in pairwise(tokens) if pair in merges]:
        pair, joined, i = choose(found), [], 0
        while i < len(tokens):
            if tuple(tokens[i : i + 2]) == pair:
                joined.append("".join(pair))
                i += 2
            else:
                joined.append(tokens[i])
                i += 1
        tokens = joined
    return tokens


@wrong("apply_merges", "most frequent in this word")
def frequent_first(word, merges):
    return repeatedly(word, merges, lambda found: Counter(found).most_common(1)[0][0])


@wrong("apply_merges", "the leftmost pair first")
def next_pair_everywhere(word, merges):
    return repeatedly(word, merges, lambda found: found[0])


@wrong("apply_merges", "rightmost pair first, at all")
def last_pair_everywhere(word, merges):
    return repeatedly(word, merges, lambda found: found[-1])


@wrong("apply_merges", "the last learned merge first")
def newest_first(word, merges):
    return repeatedly(word, merges, lambda found: max(found, key=merges.index))


@wrong("apply_merges", "read from its end")
def reversed_list(word, merges):
    return by_deleting(word, reversed(merges))


@wrong("apply_merges", "alphabet")
def alphabetical(word, merges):
    return by_deleting(word, sorted(merges))


@wrong("apply_merges", "one walk through the word. What")
def one_pass(word, merges):
    tokens, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) in merges:
            tokens.append(word[i] + word[i + 1])
            i += 2
        else:
            tokens.append(word[i])
            i += 1
    return tokens


@wrong("apply_merges", "joins the token before")
def joins_the_last(word, merges):
    tokens = []
    for character in word:
        tokens.append(character)
        if len(tokens) > 1 and (tokens[-2], tokens[-1]) in merges:
            tokens[-2:] = [tokens[-2] + tokens[-1]]
    return tokens


@wrong("apply_merges", "longest token that fits")
def longest_piece(word, merges):
    vocabulary = set(word) | {a + b for a, b in merges}
    tokens = []
    while word:
        end = len(word)
        while word[:end] not in vocabulary:
            end -= 1
        tokens.append(word[:end])
        word = word[end:]
    return tokens


@wrong("apply_merges", "at its first place only")
def breaks_after_one(word, merges):
    tokens = list(word)
    for pair in merges:
        for i in range(len(tokens) - 1):
            if (tokens[i], tokens[i + 1]) == pair:
                tokens[i : i + 2] = ["".join(pair)]
                break
    return tokens


@wrong("apply_merges", "one merge, and then the end")
def returns_after_one(word, merges):
    tokens = list(word)
    for pair in merges:
        joined = by_deleting(word, [pair])
        if joined != tokens:
            return joined
    return tokens


@wrong("apply_merges", "belongs to the left")
def right_to_left(word, merges):
    tokens = list(word)
    for a, b in merges:
        i = len(tokens) - 2
        while i >= 0:
            if tokens[i : i + 2] == [a, b]:
                tokens[i : i + 2] = [a + b]
                i -= 1
            i -= 1
    return tokens


@wrong("apply_merges", "spell together")
def by_spelling(word, merges):
    tokens = list(word)
    for a, b in merges:
        i = 0
        while i < len(tokens) - 1:
            if tokens[i] + tokens[i + 1] == a + b:
                tokens[i : i + 2] = [a + b]
            i += 1
    return tokens


@wrong("apply_merges", "with blanks between tokens")
def by_replacing(word, merges):
    text = " ".join(word)
    for pair in merges:
        text = text.replace(" ".join(pair), "".join(pair))
    return text.split()


@wrong("apply_merges", "two joined strings are no pair")
def looks_for_the_joined(word, merges):
    tokens, i = list(word), 0
    while i < len(tokens) - 1:
        if tokens[i] + tokens[i + 1] in merges:
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
        i += 1
    return tokens


@wrong("apply_merges", "never equals a")
def list_against_tuple(word, merges):
    tokens = list(word)
    for pair in merges:
        i = 0
        while i < len(tokens) - 1:
            if tokens[i : i + 2] == pair:
                tokens[i : i + 2] = ["".join(pair)]
            i += 1
    return tokens


@wrong("apply_merges", "last token is lost")
def walks_to_the_last_but_one(word, merges):
    tokens = list(word)
    for pair in merges:
        joined, i = [], 0
        while i < len(tokens) - 1:
            if (tokens[i], tokens[i + 1]) == pair:
                joined.append("".join(pair))
                i += 2
            else:
                joined.append(tokens[i])
                i += 1
        tokens = joined
    return tokens


@wrong("apply_merges", "two merges")
def overlapping(word, merges):
    tokens = list(word)
    for a, b in merges:
        joined, taken = [], False
        for i in range(len(tokens)):
            if i + 1 < len(tokens) and tokens[i] == a and tokens[i + 1] == b:
                joined.append(a + b)
                taken = True
            else:
                if not taken:
                    joined.append(tokens[i])
                taken = False
        tokens = joined
    return tokens


@wrong("apply_merges", "the second token of the pair stays")
def no_step_over(word, merges):
    tokens = list(word)
    for a, b in merges:
        joined = []
        for i, token in enumerate(tokens):
            joined.append(a + b if token == a and tokens[i + 1 : i + 2] == [b] else token)
        tokens = joined
    return tokens


@wrong("apply_merges", "one text")
def joined_by_blanks(word, merges):
    return " ".join(by_deleting(word, merges))


@wrong("apply_merges", "pairs of single characters")
def only_characters(word, merges):
    return by_deleting(word, [pair for pair in merges if len(pair[0]) == len(pair[1]) == 1])


@wrong("apply_merges", "did not end", ends=False)
def forgets_to_go_on(word, merges):
    tokens = list(word)
    for pair in merges:
        joined, i = [], 0
        while i < len(tokens):
            if tuple(tokens[i : i + 2]) == pair:
                joined.append("".join(pair))
                i += 2
            else:
                joined.append(tokens[i])
        tokens = joined
    return tokens


@wrong("apply_merges", "an index is beyond the end")
def reads_past_the_end(word, merges):
    tokens = list(word)
    for pair in merges:
        for i in range(len(tokens)):
            if (tokens[i], tokens[i + 1]) == pair:
                tokens[i : i + 2] = ["".join(pair)]
    return tokens


# id_of_merge


@right("id_of_merge")
def one_after_the_other(rank, num_special_tokens):
    ids = range(num_special_tokens + 256, num_special_tokens + 256 + rank + 1)
    return ids[-1]


@right("id_of_merge")
def of_numpy(rank, num_special_tokens):
    return np.int64(rank) + 256 + num_special_tokens


wrong("id_of_merge", "all others move up")(lambda rank, num_special_tokens: 256 + rank)
wrong("id_of_merge", "number of the last byte, but")(lambda rank, num_special_tokens: 255 + num_special_tokens + rank)
wrong("id_of_merge", "number of the last byte, but there")(lambda rank, num_special_tokens: 255 + rank)
wrong("id_of_merge", "the alphabet is missing")(lambda rank, num_special_tokens: num_special_tokens + rank)
wrong("id_of_merge", "merges are counted from 0, so")(lambda rank, num_special_tokens: 257 + num_special_tokens + rank)
wrong("id_of_merge", "merges are counted from 0")(lambda rank, num_special_tokens: 257 + rank)
wrong("id_of_merge", "not down")(lambda rank, num_special_tokens: 256 + rank - num_special_tokens)
wrong("id_of_merge", "ASCII")(lambda rank, num_special_tokens: 128 + num_special_tokens + rank)
wrong("id_of_merge", "*one* new id")(lambda rank, num_special_tokens: 256 + num_special_tokens + 2 * rank)
wrong("id_of_merge", "plays no part")(lambda rank, num_special_tokens: 256 + num_special_tokens)
wrong("id_of_merge", "the number of the merge itself")(lambda rank, num_special_tokens: rank)
wrong("id_of_merge", None, natural=False)(lambda rank, num_special_tokens: 256 * (1 + rank) + num_special_tokens)


@refused("id_of_merge", "a float where an integer")
def as_a_float(rank, num_special_tokens):
    return float(256 + num_special_tokens + rank)


@wrong("id_of_merge", "prints its result")
def printed(rank, num_special_tokens):
    print(256 + num_special_tokens + rank)


# complete_bytes


@right("complete_bytes")
def by_ignoring(data):
    return len(data.decode("utf-8", "ignore").encode())


@right("complete_bytes")
def by_trying(data):
    for end in range(len(data), -1, -1):
        try:
            data[:end].decode()
        except UnicodeDecodeError:
            continue
        return end


@right("complete_bytes")
def by_the_error(data):
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return len(data)


@right("complete_bytes")
def from_the_beginning(data):
    done = 0
    while done < len(data):
        first = data[done]
        length = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        if done + length > len(data):
            break
        done += length
    return done


wrong("complete_bytes", "all of them")(lambda data: len(data))
wrong("complete_bytes", "the last byte goes")(lambda data: max(0, len(data) - 1))
wrong("complete_bytes", "the bytes themselves")(lambda data: data.decode("utf-8", "ignore").encode())
wrong("complete_bytes", "the text itself")(lambda data: data.decode("utf-8", "ignore"))
wrong("complete_bytes", "characters are counted, not bytes.")(lambda data: len(data.decode("utf-8", "ignore")))
wrong("complete_bytes", "half a character at the end as one more")(lambda data: len(data.decode("utf-8", "replace")))
wrong("complete_bytes", "three bytes of U+FFFD")(lambda data: len(data.decode("utf-8", "replace").encode()))
wrong("complete_bytes", "have to wait")(lambda data: len(data) - by_ignoring(data))


@wrong("complete_bytes", "the first byte of the half character stays")
def first_byte_stays(data):
    end = len(data)
    try:
        data.decode()
    except UnicodeDecodeError:
        while 0x80 <= data[end - 1] < 0xC0:
            end -= 1
    return end


@wrong("complete_bytes", "a first byte at the very end")
def last_byte_only(data):
    if data and data[-1] >= 0xC0:
        return len(data) - 1
    return len(data)


@wrong("complete_bytes", "one byte goes at most")
def one_less_if_it_fails(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return len(data) - 1
    return len(data)


@wrong("complete_bytes", "even if it is whole")
def cuts_the_last_character(data):
    end = len(data)
    while end > 0 and data[end - 1] >= 0x80:
        end -= 1
        if data[end] >= 0xC0:
            break
    return end


@wrong("complete_bytes", "U+FFFD at the end")
def without_replacements_at_the_end(data):
    text = data.decode("utf-8", errors="replace")
    while text.endswith("�"):
        text = text[:-1]
    return len(text.encode("utf-8"))


@wrong("complete_bytes", "one U+FFFD at the end")
def without_one_replacement(data):
    text = data.decode("utf-8", errors="replace")
    return len((text[:-1] if text.endswith("�") else text).encode())


@wrong("complete_bytes", "every U+FFFD")
def without_replacements(data):
    return len(data.decode("utf-8", errors="replace").replace("�", "").encode())


@wrong("complete_bytes", "before the first U+FFFD")
def up_to_a_replacement(data):
    text = data.decode("utf-8", errors="replace")
    return len(text[: text.index("�")].encode()) if "�" in text else len(data)


@wrong("complete_bytes", "only ASCII")
def up_to_ascii(data):
    whole = 0
    for byte in data:
        if byte >= 0x80:
            break
        whole += 1
    return whole


@wrong("complete_bytes", "Return 0 for them")
def of_nothing(data):
    if data[-1] < 0x80:
        return len(data)
    return by_ignoring(data)


@wrong("complete_bytes", "taken for one of three")
def no_four_bytes(data):
    done = 0
    while done < len(data):
        first = data[done]
        length = 1 if first < 0xC0 else 2 if first < 0xE0 else 3
        if done + length > len(data):
            break
        done += length
    return done


@wrong("complete_bytes", "did not end", ends=False)
def never_done(data):
    done = 0
    while done < len(data):
        length = 1 if data[done] < 0x80 else 2 if data[done] < 0xE0 else 3 if data[done] < 0xF0 else 4
        if done + length <= len(data):
            done += length
    return done


wrong("complete_bytes", None, natural=False)(lambda data: len(data) // 2)

# compression


@right("compression")
def counted_one_by_one(text, num_tokens):
    return sum(len(character.encode()) for character in text) / num_tokens


@right("compression")
def by_numpy(text, num_tokens):
    return np.mean([len(text.encode())]) / np.float64(num_tokens)


wrong("compression", "characters per token")(lambda text, num_tokens: len(text) / num_tokens)
wrong("compression", "tokens per byte")(lambda text, num_tokens: num_tokens / len(text.encode()))
wrong("compression", "upside down: tokens per byte")(lambda text, num_tokens: num_tokens / len(text))
wrong("compression", "rounded down")(lambda text, num_tokens: len(text.encode()) // num_tokens)
wrong("compression", "rounded down")(lambda text, num_tokens: int(len(text.encode()) / num_tokens))
wrong("compression", "rounded. The fraction")(lambda text, num_tokens: round(len(text.encode()) / num_tokens))
wrong("compression", "two digits")(lambda text, num_tokens: round(len(text.encode()) / num_tokens, 2))
wrong("compression", "UTF-16")(lambda text, num_tokens: len(text.encode("utf-16-le")) / num_tokens)
wrong("compression", "ends are cut off")(lambda text, num_tokens: len(text.strip().encode()) / num_tokens)
wrong("compression", "are left out")(lambda text, num_tokens: sum(len(w.encode()) for w in text.split()) / num_tokens)
wrong("compression", "words per token")(lambda text, num_tokens: len(text.split()) / num_tokens)
wrong("compression", "bits")(lambda text, num_tokens: len(text.encode()) * 8 / num_tokens)
wrong("compression", "outside ASCII")(lambda text, num_tokens: len(text.encode("ascii", "ignore")) / num_tokens)
wrong("compression", "different bytes")(lambda text, num_tokens: len(set(text.encode())) / num_tokens)
wrong("compression", "all bytes")(lambda text, num_tokens: len(text.encode()))
wrong("compression", None)(lambda text, num_tokens: len(text.encode("ascii")) / num_tokens)
wrong("compression", "one token too many", natural=False)(
    lambda text, num_tokens: len(text.encode()) / (num_tokens + 1)
)


# a second class, all exercises


@wrong("tokens_saved", "whether the two ids occur in the word,")
def second_class_membership_of_ids(words, pair):
    return sum(f for ids, f in words.items() if pair[0] in ids and pair[1] in ids)


@wrong("tokens_saved", "the walk goes on by two where there is")
def second_class_loop_skips_one_always(words, pair):
    total = 0
    for ids, f in words.items():
        i = 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == pair:
                total += f
                i += 1
            i += 2
    return total


@wrong("tokens_saved", "an index is beyond the end: of n entri")
def second_class_index_error(words, pair):
    total = 0
    for ids, f in words.items():
        i = 0
        while i < len(ids):
            if (ids[i], ids[i + 1]) == pair:
                total += f
                i += 2
            else:
                i += 1
    return total


@wrong("tokens_saved", "overlapping pairs are counted, and the")
def second_class_halves_for_same(words, pair):
    c = pair_counts(words)[pair]
    return c // 2 if pair[0] == pair[1] else c


@wrong("tokens_saved", "overlapping pairs are counted, and hal")
def second_class_halves_per_word_down(words, pair):
    t = 0
    for ids, f in words.items():
        c = sum(p == pair for p in pairwise(ids))
        t += f * (c // 2 if pair[0] == pair[1] else c)
    return t


@wrong("tokens_saved", "overlapping pairs are counted, and hal")
def second_class_halves_per_word_up(words, pair):
    t = 0
    for ids, f in words.items():
        c = sum(p == pair for p in pairwise(ids))
        t += f * ((c + 1) // 2 if pair[0] == pair[1] else c)
    return t


@wrong("best_short_pair", "ties go to the pair that was counted l")
def second_class_min_default_zero(counts, num_bytes, longest):
    best = None
    bc = 0
    for p, n in counts.items():
        if num_bytes[p[0]] + num_bytes[p[1]] <= longest and n >= bc:
            best = p
            bc = n
    return best


@wrong("best_short_pair", "the pair and its count. Asked is the p")
def second_class_returns_count_too(counts, num_bytes, longest):
    c = {p: n for p, n in counts.items() if num_bytes[p[0]] + num_bytes[p[1]] <= longest}
    return min(c.items(), key=lambda x: (-x[1], x[0]), default=None)


@wrong("best_short_pair", "when no pair is allowed, something emp")
def second_class_returns_empty_tuple(counts, num_bytes, longest):
    c = {p: n for p, n in counts.items() if num_bytes[p[0]] + num_bytes[p[1]] <= longest}
    return best_pair(c) if c else ()


@wrong("best_short_pair", "the shortest token. Length is only a b")
def second_class_shortest_first(counts, num_bytes, longest):
    c = {p: n for p, n in counts.items() if num_bytes[p[0]] + num_bytes[p[1]] <= longest}
    return min(c, key=lambda p: (num_bytes[p[0]] + num_bytes[p[1]], -c[p], p), default=None)


@wrong("best_short_pair", "among equals the longest token wins. T")
def second_class_longest_on_tie(counts, num_bytes, longest):
    c = {p: n for p, n in counts.items() if num_bytes[p[0]] + num_bytes[p[1]] <= longest}
    return min(c, key=lambda p: (-c[p], -(num_bytes[p[0]] + num_bytes[p[1]]), p), default=None)


@wrong("best_short_pair", "ids are compared as text, where 10 com")
def second_class_string_order(counts, num_bytes, longest):
    c = {p: n for p, n in counts.items() if num_bytes[p[0]] + num_bytes[p[1]] <= longest}
    return min(c, key=lambda p: (-c[p], str(p)), default=None)


@wrong("best_short_pair", "counts are multiplied by lengths. The ")
def second_class_weighted_bytes(counts, num_bytes, longest):
    c = {
        p: n * (num_bytes[p[0]] + num_bytes[p[1]])
        for p, n in counts.items()
        if num_bytes[p[0]] + num_bytes[p[1]] <= longest
    }
    return best_pair(c) if c else None


@wrong("undo_merges", "ids below 256 are taken for bytes")
def second_class_only_if_256(ids, merges):
    inv = {v: k for k, v in merges.items()}

    def f(i):
        return [i] if i < 256 else f(inv[i][0]) + f(inv[i][1])

    return [x for i in ids for x in f(i)]


@wrong("undo_merges", "a dictionary is asked for a key that i")
def second_class_keyerror(ids, merges):
    inv = {v: k for k, v in merges.items()}
    return [x for i in ids for x in inv[i]]


@wrong("undo_merges", "nothing is undone. `merges` maps pairs")
def second_class_merges_lookup_wrong_way(ids, merges):
    out = []
    for i in ids:
        if i in merges:
            out += merges[i]
        else:
            out.append(i)
    return out


@wrong("undo_merges", "only the first part is undone further.")
def second_class_only_left_recursed(ids, merges):
    inv = {v: k for k, v in merges.items()}

    def f(i):
        return [*f(inv[i][0]), inv[i][1]] if i in inv else [i]

    return [x for i in ids for x in f(i)]


@wrong("undo_merges", "two levels only. A merged id may be ma")
def second_class_two_levels(ids, merges):
    inv = {v: k for k, v in merges.items()}
    for _ in range(2):
        ids = [x for i in ids for x in inv.get(i, (i,))]
    return ids


@wrong("undo_merges", "only the second part is undone further")
def second_class_skip_after_insert(ids, merges):
    inv = {v: k for k, v in merges.items()}
    ids = list(ids)
    for n, i in enumerate(ids):
        if i in inv:
            ids[n : n + 1] = inv[i]
    return ids


@wrong("apply_merges", "the word is never cut into its charact")
def second_class_replace_strings(word, merges):
    for a, b in merges:
        word = word.replace(a + " " + b, a + b)
    return word.split()


@wrong("apply_merges", "in a text with blanks between tokens `")
def second_class_spaced_replace(word, merges):
    s = " ".join(word)
    for a, b in merges:
        s = s.replace(a + " " + b, a + b)
    return s.split(" ")


@wrong("apply_merges", "the first merge alone: a `return` insi")
def second_class_only_first_merge(word, merges):
    t = list(word)
    for a, b in merges:
        o = []
        i = 0
        while i < len(t):
            if t[i : i + 2] == [a, b]:
                o.append(a + b)
                i += 2
            else:
                o.append(t[i])
                i += 1
        t = o
        return t
    return t


@wrong("apply_merges", "merged tokens are taken out of the wor")
def second_class_split_on_merge(word, merges):
    out = []
    for a, b in merges:
        if a + b in word:
            out.append(a + b)
            word = word.replace(a + b, "")
    return out + list(word)


@wrong("apply_merges", "bytes are merged, not characters: `é` ")
def second_class_utf8(word, merges):
    t = [chr(x) for x in word.encode()]
    for a, b in merges:
        o = []
        i = 0
        while i < len(t):
            if t[i : i + 2] == [a, b]:
                o.append(a + b)
                i += 2
            else:
                o.append(t[i])
                i += 1
        t = o
    return t


@wrong("apply_merges", "the two tokens stay two, as a pair: jo")
def second_class_list_of_pairs(word, merges):
    t = list(word)
    for a, b in merges:
        o = []
        i = 0
        while i < len(t):
            if t[i : i + 2] == [a, b]:
                o.append((a, b))
                i += 2
            else:
                o.append(t[i])
                i += 1
        t = o
    return t


@wrong("complete_bytes", "only bytes of ASCII are counted. é, 潮 ")
def second_class_ascii_only(data):
    return sum(b < 128 for b in data)


@wrong("complete_bytes", "every character is taken for one of th")
def second_class_threes(data):
    return len(data) // 3 * 3


@wrong("complete_bytes", "all or nothing: where the end is incom")
def second_class_try_all_or_nothing(data):
    try:
        data.decode()
        return len(data)
    except UnicodeDecodeError:
        return 0


@wrong("complete_bytes", "half a character makes `decode()` rais")
def second_class_raises(data):
    return len(data.decode())


@wrong("complete_bytes", "two bytes are left out at most. Of a c")
def second_class_tries_two(data):
    for k in range(3):
        try:
            data[: len(data) - k].decode()
            return len(data) - k
        except UnicodeDecodeError:
            pass
    return 0


@wrong("complete_bytes", "all bytes above 0x7F at the end go, ev")
def second_class_strips_continuation(data):
    n = len(data)
    while n and data[n - 1] >= 128:
        n -= 1
    return n


@wrong("complete_bytes", "all later bytes (0x80 to 0xBF) at the ")
def second_class_strips_cont_only(data):
    n = len(data)
    while n and 128 <= data[n - 1] < 192:
        n -= 1
    return n


@wrong("complete_bytes", "the last character is left out even if")
def second_class_range_len(data):
    n = 0
    for k in range(len(data)):
        try:
            data[:k].decode()
            n = k
        except UnicodeDecodeError:
            pass
    return n


@wrong("complete_bytes", "from the first byte of a character on ")
def second_class_lead_no_four(data):
    i = 0
    while i < len(data):
        s = 1 if data[i] < 128 else 2 if data[i] < 224 else 3
        if i + s > len(data):
            break
        i += s
    return i


@wrong("complete_bytes", "all characters outside ASCII are taken")
def second_class_lead_no_two(data):
    i = 0
    while i < len(data):
        s = 1 if data[i] < 128 else 3
        if i + s > len(data):
            break
        i += s
    return i


@wrong("complete_bytes", "the last character is left out even if")
def second_class_lead_strict(data):
    i = 0
    while i < len(data):
        s = 1 if data[i] < 128 else 2 if data[i] < 224 else 3 if data[i] < 240 else 4
        if i + s >= len(data):
            break
        i += s
    return i


@wrong("complete_bytes", "the bytes that the last character *wil")
def second_class_lead_overshoot(data):
    i = 0
    while i < len(data):
        s = 1 if data[i] < 128 else 2 if data[i] < 224 else 3 if data[i] < 240 else 4
        i += s
    return i


wrong("compression", "two things at once: bytes of UTF-32")(
    lambda text, num_tokens: len(text.encode("utf-32-le")) // num_tokens
)
wrong("compression", "and bits")(lambda text, num_tokens: 8 * len(text) / num_tokens)
wrong("compression", "a percentage")(lambda text, num_tokens: 100 * len(text.encode()) / num_tokens)
wrong("id_of_merge", "sizes are multiplied")(lambda rank, num_special_tokens: 256 * num_special_tokens + rank)
wrong("id_of_merge", "one special token is too few")(
    lambda rank, num_special_tokens: 256 + rank + max(0, num_special_tokens - 1)
)
wrong("id_of_merge", None)(lambda rank, num_special_tokens: 256 * (rank + 1) + num_special_tokens)

# -- a class that had not seen the mistakes -------------------------------------------


def taken_apart(is_byte, keeps_bytes=True):
    def answer(ids, merges):
        pairs = {new_id: pair for pair, new_id in merges.items()}

        def undone(token):
            return [token] if is_byte(token, pairs) else [x for part in pairs[token] for x in undone(part)]

        return [x for token in ids if keeps_bytes or token in pairs for x in undone(token)]

    return answer


right("undo_merges")(taken_apart(lambda token, pairs: token not in pairs))
wrong("undo_merges", "ids below 256 are taken for bytes")(taken_apart(lambda token, pairs: token < 256))
wrong("undo_merges", "that are bytes already are lost")(taken_apart(lambda token, pairs: token not in pairs, False))


@wrong("undo_merges", "the two parts change places")
def from_a_stack(ids, merges):
    pairs = {new_id: pair for pair, new_id in merges.items()}
    flat = []
    for token in ids:
        stack = [token]
        while stack:
            top = stack.pop()
            if top in pairs:
                stack.extend(pairs[top])
            else:
                flat.append(top)
    return flat


@wrong("apply_merges", "the range of the loop keeps its length")
def in_the_list_of_the_loop(word, merges):
    tokens = list(word)
    for a, b in merges:
        for i in range(len(tokens) - 1):
            if tokens[i] == a and tokens[i + 1] == b:
                tokens[i : i + 2] = [a + b]
    return tokens


@wrong("apply_merges", "the walk goes on by two")
def two_on_in_the_list(word, merges):
    tokens = list(word)
    for a, b in merges:
        i = 0
        while i < len(tokens) - 1:
            if tokens[i] == a and tokens[i + 1] == b:
                tokens[i] = a + b
                del tokens[i + 1]
                i += 2
            else:
                i += 1
    return tokens


@wrong("apply_merges", "rounds go on until nothing changes")
def until_nothing_changes(word, merges):
    tokens, changed = list(word), True
    while changed:
        changed = False
        for a, b in merges:
            for i in range(len(tokens) - 1):
                if tokens[i] == a and tokens[i + 1] == b:
                    tokens[i : i + 2] = [a + b]
                    changed = True
                    break
    return tokens


@right("apply_merges")
def within_the_list(word, merges):
    tokens = list(word)
    for a, b in merges:
        i = 0
        while i < len(tokens) - 1:
            if [tokens[i], tokens[i + 1]] == [a, b]:
                tokens[i : i + 2] = [a + b]
            i += 1
    return tokens


wrong("id_of_merge", None)(lambda rank, special: 8 + special + rank)
wrong("complete_bytes", "half a character at the end as one more")(
    lambda data: sum((byte & 0xC0) != 0x80 for byte in data)
)
wrong("compression", None)(lambda text, n: (len(text.encode()) + 1) / n)
