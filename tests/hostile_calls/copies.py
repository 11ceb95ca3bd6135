"""Hostile calls of what finds the same text twice."""

import numpy as np

from course_lib.foundation.copies import Copies

SIGNATURES = np.array([[1, 2, 3, 4], [1, 2, 0, 0], [9, 9, 0, 0]])

CALLS = {
    "normalized('A  b\\n')": "a b",
    "normalized('')": "",
    "normalized('\u0390'.upper()) == normalized('\u0390')": True,  # an iota with two marks
    "count_copies([])": Copies(0, 0, 0),
    "count_copies(['a', 'A'], val_every=1)": Copies(2, 1, 0),
    "count_copies([{'text': ['a', 'a']}], val_every=2)": Copies(2, 1, 1),
    "count_copies('aa')": TypeError("texts must be several texts"),
    "count_copies([None])": TypeError("texts[0] must be a str"),
    "Copies(1, 0, 0).across": 0,
    "Copies(1)": TypeError("missing 2 required"),
    "list(drop_copies([]))": [],
    "list(drop_copies(['', ' ', 'a']))": ["", "a"],
    "list(drop_copies(['a', 'A ']))": ["a"],
    "drop_copies(5)": TypeError("texts must be several texts"),
    "drop_copies({'text': ['a']})": TypeError("texts must be several texts"),
    "list(drop_copies(['a', 5]))": TypeError("texts[1] must be a str"),
    # near copies
    "shingles('')": {""},
    "shingles(' A\\n b')": {"a b"},
    "shingles('a b c', np.int8(2))": {"a b", "b c"},
    "shingles('a b', 2**70)": {"a b"},
    "shingles('\\ud800')": ValueError("text must be Unicode"),
    "similarity(set(), set())": 1.0,
    "similarity({1}, set())": 0.0,
    "minhash(['a', 'a'], 3).tolist() == minhash({'a': 1}.keys(), np.int8(3)).tolist()": True,
    "minhash([''], 1).shape": (1,),
    "minhash([])": ValueError("items must hold at least one string, got none"),
    "minhash([b'a'])": TypeError("each item must be a str, got bytes"),
    "minhash([['a']])": TypeError("each item must be a str, got list"),
    "minhash(['\\ud800'])": ValueError("each item must be Unicode"),
    "candidate_pairs(SIGNATURES, 2)": {(0, 1), (1, 2)},
    "candidate_pairs(SIGNATURES.tolist(), np.uint8(1))": set(),
    "candidate_pairs(SIGNATURES[:, ::-1], 4)": {(0, 1), (1, 2)},
    "candidate_pairs([minhash(['a'], 2), minhash(['a'], 2)], 2)": {(0, 1)},
    "candidate_pairs(np.zeros((0, 4), dtype=int), 2)": set(),
    "candidate_pairs([], 1)": ValueError("signatures must have two dimensions, got shape (0,)"),
    "candidate_pairs([[]], 1)": ValueError("num_bands must divide the 0 numbers"),
    "candidate_pairs(SIGNATURES, 3)": ValueError("num_bands must divide the 4 numbers of a signature, got 3"),
    "match_probability([0, 0.5, 1], 1, 2)": np.array([0, 0.75, 1]),
    "match_probability([], 1, 1)": np.array([]),
    "match_probability(1, 2**62, 2**62)": 1.0,
    "match_probability(0.5, 2**62, 1)": 0.0,
    "match_probability(1.1, 1, 1)": ValueError("similarity must lie in 0 ... 1"),
    "match_probability(-0.1, 1, 1)": ValueError("similarity must lie in 0 ... 1"),
    "match_probability([0.5, nan], 1, 1)": ValueError("similarity must lie in 0 ... 1"),
    "match_probability('0.5', 1, 1)": TypeError("similarity must be numbers"),
    "match_probability(True, 1, 1)": TypeError("similarity must be numbers"),
    "shared_ngrams([1, 70_000, 3], np.array([0, 70_000, 3], dtype=np.uint32), 2)": np.array([False, True, True]),
    "shared_ngrams([], [], 1)": np.array([], dtype=bool),
    "shared_ngrams([1], [1, 2], 2**70)": np.array([False, False]),
}
