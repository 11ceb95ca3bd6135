"""What a class answers in lesson 06."""

import re
from itertools import pairwise

import numpy as np

from course_lib.bpe import merge_pair
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


@wrong("tokens_saved", "only the last word counts")
def of_the_last_word(words, pair):
    for ids, count in words.items():
        saved = (len(ids) - len(merge_pair(ids, pair, 0))) * count
    return saved


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


# swallowed


def encoded(word, merges):
    ids = list(word)
    for pair, new_id in merges.items():
        ids = merge_pair(ids, pair, new_id)
    return ids


@right("swallowed")
def one_merge_after_the_other(words, merges):
    left = set(merges.values())
    for word in words:
        left -= set(encoded(word, merges))
    return sorted(left)


@right("swallowed")
def asked_for_each_id(words, merges):
    texts = [encoded(word, merges) for word in words]
    return [new_id for new_id in sorted(merges.values()) if not any(new_id in text for text in texts)]


@right("swallowed")
def of_numpy(words, merges):
    seen = [token for word in words for token in encoded(word, merges)]
    return np.setdiff1d(list(merges.values()), seen).astype(np.int64)


@refused("swallowed", "a `set`")
def as_a_set(words, merges):
    return set(one_merge_after_the_other(words, merges))


@wrong("swallowed", "prints its result")
def printed(words, merges):
    print(one_merge_after_the_other(words, merges))


# complete_bytes


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


# a second class, all exercises


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


@wrong("undo_merges", "a dictionary is asked for a key that i")
def second_class_keyerror(ids, merges):
    inv = {v: k for k, v in merges.items()}
    return [x for i in ids for x in inv[i]]


# -- a class that had not seen the mistakes -------------------------------------------


def taken_apart(is_byte, keeps_bytes=True):
    def answer(ids, merges):
        pairs = {new_id: pair for pair, new_id in merges.items()}

        def undone(token):
            return [token] if is_byte(token, pairs) else [x for part in pairs[token] for x in undone(part)]

        return [x for token in ids if keeps_bytes or token in pairs for x in undone(token)]

    return answer


right("undo_merges")(taken_apart(lambda token, pairs: token not in pairs))


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
