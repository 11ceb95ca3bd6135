"""Hostile calls of merges, learned and made fast."""

WORDS = {(1, 2, 1, 2): 3, (2, 1): 1}
WORD = [1, 2, 1, 2]

CALLS = {
    # learning
    "learn_merges({}, 5)": {},
    "learn_merges({(): 3, (1,): 3}, 5)": {},
    "learn_merges(WORDS, 0)": {},
    "learn_merges(WORDS, np.int8(1), first_id=np.int8(127))": {(1, 2): 127},
    "learn_merges({(1, 2): np.int8(100), (3, 1, 2): np.int8(100)}, 1, min_frequency=150)": {(1, 2): 256},
    "learn_merges({(1, 2): 0}, 5, min_frequency=1)": {},
    "learn_merges({(1, 2): nan}, 5)": TypeError("counts of words must be integers, got list of float64"),
    "learn_merges({(1, 2): 1.0}, 5)": TypeError("counts of words must be integers"),
    "learn_merges({(1, 2): -1}, 5)": ValueError("counts of words must not be negative, got -1"),
    "learn_merges(WORDS, 5, first_id=2)": ValueError("words must hold ids below 2, got 2"),
    "learn_merges({'abab': 2}, 5)": TypeError("words must map tuples of ids to counts"),
    "learn_merges({(1, 2): 1}, 5)": {},
    "WORDS": {(1, 2, 1, 2): 3, (2, 1): 1},  # it has not changed them
    # encoding a word
    "merge_word([], {})": [],
    "merge_word([-1, 1, 2], {(1, 2): 9})": [-1, 9],
    "merge_word(WORD, {(1, 2): 9})": [9, 9],
    "merge_word(torch.tensor([1, 2]), {(1, 2): 9})": [9],
    "merge_word(np.array([1, 2], dtype=np.uint16), {(1, 2): 70_000})": [70_000],
    "merge_word('ab', {})": TypeError("ids must be integers, got text"),
    "WORD": [1, 2, 1, 2],
    # checks
    "as_id_list(())": [],
    "as_id_list([True, 2])": TypeError("ids must be integers"),
    "as_id_list([1, 2], 'pair', length=3)": ValueError("pair must hold 3 ids, got [1, 2]"),
    "as_id_list(torch.tensor([70_000, 1]))": [70_000, 1],
    "check_words({(1,): np.int8(3)}, 2)": {(1,): 3},
    "check_words({(300,): 3})": {(300,): 3},
    "check_words({(300,): 3}, 256)": ValueError("words must hold ids below 256, got 300"),
    "check_words(None)": TypeError("words must map tuples of ids to counts, got None"),
}
