"""Hostile calls of ids that tell their places: streams that cannot, vocabularies that are too small."""

import numpy as np


class Constant:
    def encode(self, text):
        return [7] * len(text)


class Letters:
    def encode(self, text):
        return list(text)


CALLS = {
    "TellingIds([5, 6, 7]).positions([[6, 7, 4]])": np.array([[1, 2, -1]]),
    "TellingIds([5, 6, 5, 7]).positions([[5, 7], [7, 5]])": np.array([[2, 3], [-1, -1]]),
    "TellingIds([5, 6, 5, 7]).positions([[5]])": np.array([[-1]]),
    "TellingIds([5, 6]).positions(np.zeros((0, 3), dtype=int)).shape": (0, 3),
    "TellingIds([5, 6]).positions([[2**62, -(2**62)]])": np.array([[-1, -1]]),
    "TellingIds([5, 6]).is_handed_out(np.array([4, 5, 7])).tolist()": [False, True, False],
    "TellingIds([7] * 200)": ValueError("ids must have no 64 neighbors in two places"),
    "TellingIds.of_positions(2).ids": np.array([1_000, 1_001]),
    "set(TellingIds.below(6, 10).ids.tolist())": {4, 5},
    "TellingIds.below(2**100, 10).neighbors": 1,
    "TellingIds.of_texts(Constant(), 500)": ValueError("ids must have no 64 neighbors"),
    "TellingIds.of_texts(Letters(), 500)": ValueError("invalid literal"),
    "TellingIds.of_texts(Constant, 500)": TypeError("tokenizer must have a method encode(text), got a class"),
    "TellingIds.of_texts('abc', 500)": TypeError("tokenizer must have a method encode(text), got str"),
    "TellingIds.of_texts(None, 500)": TypeError("tokenizer must have a method encode(text), got NoneType"),
}
