"""Answers to the exercises of lesson 13: right ones, and wrong ones with words of what they are told."""

import re
from fractions import Fraction

import numpy as np

from course_lib.exercises.mixing_sources import (
    contaminated,
    document_weights,
    drawn_before,
    epochs_of_sources,
    next_source,
    share_a_band,
)
from course_lib.teaching.checker import FAILED, PASSED


def as_arrays(weights, num_windows, num_draws):
    shares = np.array(weights) / np.sum(weights)
    return shares * num_draws / np.array(num_windows)


def all_alike(weights, num_windows, num_draws):
    return [num_draws / sum(num_windows) for _ in weights]


def whole_epochs(weights, num_windows, num_draws):
    return [int(num_draws * w / sum(weights) // n) for w, n in zip(weights, num_windows, strict=True)]


def by_exact_fractions(weights, counts):
    lags = {s: Fraction(w, sum(weights)) * (sum(counts) + 1) - counts[s] for s, w in enumerate(weights)}
    return max(lags, key=lags.get)


def as_integers(weights, counts):
    return int(np.argmax(np.array(weights) * (sum(counts) + 1) - np.array(counts) * sum(weights)))


def as_floats(weights, counts):
    shares = np.array(weights) / sum(weights)
    return int(np.argmax(shares * (sum(counts) + 1) - np.array(counts)))


def before_the_draw(weights, counts):
    lags = [w * sum(counts) - c * sum(weights) for w, c in zip(weights, counts, strict=True)]
    return lags.index(max(lags))


def with_a_later_tie(weights, counts):
    best, most = None, None
    for source, (w, c) in enumerate(zip(weights, counts, strict=True)):
        lag = w * (sum(counts) + 1) - c * sum(weights)
        if most is None or lag >= most:
            best, most = source, lag
    return best


def by_ratio(weights, counts):
    return min(range(len(weights)), key=lambda s: counts[s] / weights[s])


def by_the_rest(position, block):
    rest = position % len(block)
    return (position - rest) // len(block) * block.count(block[rest]) + block[:rest].count(block[rest])


def as_running_counts(position, block):
    seen = [block[:place].count(source) for place, source in enumerate(block)]
    whole, place = divmod(position, len(block))
    return whole * sum(source == block[place] for source in block) + seen[place]


def with_itself(position, block):
    whole, place = divmod(position, len(block))
    return whole * block.count(block[place]) + block[: place + 1].count(block[place])


def of_the_first_block(position, block):
    return block[:position].count(block[position % len(block)])


def for_a_million_tokens(token_shares, mean_tokens):
    documents = np.array(token_shares) * 1e6 / np.array(mean_tokens)
    return documents / documents.sum()


def scaled_by_the_first_sum(token_shares, mean_tokens):
    total = sum(s / m for s, m in zip(token_shares, mean_tokens, strict=True))
    return [s / m / total for s, m in zip(token_shares, mean_tokens, strict=True)]


def longer_means_more(token_shares, mean_tokens):
    tokens = np.array(token_shares) * np.array(mean_tokens)
    return tokens / tokens.sum()


def band_by_band(a, b, rows):
    bands = range(len(a) // rows)
    return bool(any(all(a[k * rows + i] == b[k * rows + i] for i in range(rows)) for k in bands))


def reshaped(a, b, rows):
    return (np.reshape(a, (-1, rows)) == np.reshape(b, (-1, rows))).all(axis=1).any()


def sliding(a, b, rows):
    return any(a[i : i + rows] == b[i : i + rows] for i in range(len(a) - rows + 1))


def after_the_first_band(a, b, rows):
    for i in range(0, len(a), rows):
        return a[i : i + rows] == b[i : i + rows]


def words_of(text):
    return text.lower().split()


def by_padded_strings(train, exam, n):
    pages = [f" {' '.join(words_of(text))} " for text in train]
    found = []
    for number, question in enumerate(exam):
        words = words_of(question)
        size = min(n, len(words))
        runs = [f" {' '.join(words[i : i + size])} " for i in range(len(words) - size + 1)]
        if any(run in page for run in runs for page in pages):
            found.append(number)
    return found


def by_comparing_slices(train, exam, n):
    def meets(question, text):
        a, b = words_of(question), words_of(text)
        size = min(n, len(a))
        return any(
            a[i : i + size] == b[j : j + size] for i in range(len(a) - size + 1) for j in range(len(b) - size + 1)
        )

    return [i for i, question in enumerate(exam) if any(meets(question, text) for text in train)]


def without_borders_of_words(train, exam, n):
    found = []
    for number, question in enumerate(exam):
        words = words_of(question)
        size = min(n, len(words))
        runs = [" ".join(words[i : i + size]) for i in range(len(words) - size + 1)]
        if any(run in " ".join(words_of(text)) for run in runs for text in train):
            found.append(number)
    return found


def long_ones_alone(train, exam, n):
    def runs(text):
        return {tuple(words_of(text)[i : i + n]) for i in range(len(words_of(text)) - n + 1)}

    return [i for i, question in enumerate(exam) if any(runs(question) & runs(text) for text in train)]


def whole_questions(train, exam, n):
    return [i for i, question in enumerate(exam) if by_padded_strings(train, [question], len(words_of(question)))]


def without_punctuation(train, exam, n):
    texts, questions = (["\n".join(re.findall(r"\w+", text)) for text in some] for some in (train, exam))
    return by_padded_strings(texts, questions, n)


def bags_of_words(train, exam, n):
    return [i for i, q in enumerate(exam) if any(len(set(words_of(q)) & set(words_of(t))) >= n for t in train)]


def over_all_windows(weights, num_windows, num_draws):
    total, everything = sum(weights), sum(num_windows)
    return [num_draws * weight / total / everything for weight in weights]


def weight_less_count(weights, counts):
    best = 0
    for source in range(len(weights)):
        if weights[source] - counts[source] > weights[best] - counts[best]:
            best = source
    return best


def drawn_least(weights, counts):
    best = 0
    for source, count in enumerate(counts):
        if count < counts[best]:
            best = source
    return best


def in_this_block(position, block):
    place = position % len(block)
    return block[:place].count(block[place])


def in_whole_blocks(position, block):
    source = block[position % len(block)]
    return position // len(block) * block.count(source)


def with_all_of_its_block(position, block):
    block_number, place = divmod(position, len(block))
    in_each = len([source for source in block if source == block[place]])
    return in_each * (1 + block_number)


def normalized_as_it_goes(token_shares, mean_tokens):
    weights = [share / mean for share, mean in zip(token_shares, mean_tokens, strict=True)]
    for i, weight in enumerate(weights):
        weights[i] = weight / sum(weights)
    return weights


def one_number_agrees(a, b, rows):
    agreeing = sum(one == other for one, other in zip(a, b, strict=True))
    return agreeing > 0


def so_many_bands(a, b, rows):
    size = len(a) // rows
    bands = [slice(band * size, (band + 1) * size) for band in range(rows)]
    return any(a[band] == b[band] for band in bands)


def bands_in_a_set(a, b, rows):
    bands = {tuple(a[i : i + rows]) for i in range(0, len(a), rows)}
    return any(tuple(b[i : i + rows]) in bands for i in range(0, len(b), rows))


def shares_words(train, exam, n, split):
    found = []
    for number, question in enumerate(exam):
        words = split(question)
        size = min(n, len(words))
        wanted = {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}
        for text in train:
            read = split(text)
            if wanted & {tuple(read[i : i + size]) for i in range(len(read) - size + 1)}:
                found.append(number)
                break
    return found


def cut_at_spaces(train, exam, n):
    return shares_words(train, exam, n, lambda text: text.lower().split(" "))


def in_upper_and_lower_case(train, exam, n):
    return shares_words(train, exam, n, lambda text: text.split())


ANSWERS = [
    (epochs_of_sources, as_arrays, PASSED),
    (epochs_of_sources, lambda w, n, draws: [draws * x / sum(w) / y for x, y in zip(w, n, strict=True)], PASSED),
    (epochs_of_sources, lambda w, n, draws: [draws * x / y for x, y in zip(w, n, strict=True)], "needn't add up to 1"),
    (epochs_of_sources, lambda w, n, draws: [draws * x / sum(w) for x in w], "return the *draws*"),
    (epochs_of_sources, all_alike, "don't use the weights"),
    (epochs_of_sources, lambda w, n, draws: [x / sum(w) / y for x, y in zip(w, n, strict=True)], "how many draws"),
    (epochs_of_sources, whole_epochs, "you round"),
    (epochs_of_sources, lambda w, n, draws: [draws * y / x if x else 0.0 for x, y in zip(w, n, strict=True)], FAILED),
    (next_source, by_exact_fractions, PASSED),
    (next_source, as_integers, PASSED),
    (next_source, as_floats, "makes floats"),
    (next_source, before_the_draw, "about to be made"),
    (next_source, with_a_later_tie, "a tie to the last source"),
    (next_source, by_ratio, "a *difference*"),
    (next_source, lambda weights, counts: len(weights) - 1, FAILED),
    (drawn_before, by_the_rest, PASSED),
    (drawn_before, as_running_counts, PASSED),
    (drawn_before, with_itself, "at `position` itself"),
    (drawn_before, of_the_first_block, "ends with the first block"),
    (
        drawn_before,
        lambda position, block: position * block.count(block[position % len(block)]) // len(block),
        "evenly",
    ),
    (drawn_before, lambda position, block: position % len(block), FAILED),
    (document_weights, for_a_million_tokens, PASSED),
    (document_weights, scaled_by_the_first_sum, PASSED),
    (document_weights, longer_means_more, "needs *fewer* draws"),
    (document_weights, lambda shares, means: [s / m for s, m in zip(shares, means, strict=True)], "don't add up to 1"),
    (document_weights, lambda shares, means: shares, "don't use the lengths"),
    (document_weights, lambda shares, means: [1 / len(shares)] * len(shares), FAILED),
    (share_a_band, band_by_band, PASSED),
    (share_a_band, reshaped, PASSED),
    (share_a_band, sliding, "don't overlap"),
    (share_a_band, lambda a, b, rows: sum(x == y for x, y in zip(a, b, strict=True)) >= rows, "all be in one band"),
    (share_a_band, lambda a, b, rows: bool(set(a) & set(b)), FAILED),
    (share_a_band, lambda a, b, rows: a == b, "one is enough"),
    (share_a_band, after_the_first_band, FAILED),
    (contaminated, by_padded_strings, PASSED),
    (contaminated, by_comparing_slices, PASSED),
    (contaminated, lambda train, exam, n: list(set(contaminated(train, exam, n))), FAILED),  # in a set's order
    (contaminated, without_borders_of_words, "inside words"),
    (contaminated, long_ones_alone, "fewer than n words"),
    (contaminated, whole_questions, "one is enough"),
    (contaminated, lambda train, exam, n: by_padded_strings([" ".join(train)], exam, n), "end in the next"),
    (contaminated, lambda train, exam, n: [exam[i] for i in by_padded_strings(train, exam, n)], FAILED),
    (contaminated, bags_of_words, FAILED),
    (contaminated, without_punctuation, FAILED),
    (epochs_of_sources, over_all_windows, "windows of *all* sources"),
    (next_source, weight_less_count, "from bare weights"),
    (next_source, drawn_least, "only the counts"),
    (drawn_before, in_this_block, "forget the whole blocks"),
    (drawn_before, in_whole_blocks, "only whole blocks"),
    (drawn_before, with_all_of_its_block, "block of `position` whole"),
    (document_weights, normalized_as_it_goes, "again after each division"),
    (share_a_band, one_number_agrees, "a single number"),
    (share_a_band, so_many_bands, "for the number of bands"),
    (share_a_band, bands_in_a_set, "*every* band"),
    (contaminated, cut_at_spaces, "each line by itself"),
    (contaminated, in_upper_and_lower_case, "upper and lower case"),
]
