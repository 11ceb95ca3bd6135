"""How guesses are written, and what becomes of them: in a notebook, and on a page of the site, which judges by itself.

`tests/test_guesses.py` goes through these tables in Python, `tests/test_book_guesses.py` in a browser.
"""

import math

import numpy as np
import torch

# Each of them is right.
WRITTEN = {
    1000: ["1,000", "1000", " 1 000 ", "1_000", "1'000", "1e3", "10^3", "10**3", "1k", "1 thousand", "2000/2"],
    7: ["7", "7.", "(7)", "7 windows", "about 7", "~7", "≈ 7", "seven", "+7", "7x", "7 times", 7],
    0.5: ["0.5", ".5", "0,5", "50%", "50 percent", "1/2", 0.5, np.float32(0.5), torch.tensor(0.5)],
    37.5: ["37.5 %", "75 / 2"],
    0.125: ["0,125"],
    -3: ["-3", "−3", -3],
    2_500_000: ["2.5m", "2.5 million", "2,500k"],
    (7, 3): ["7 3", "(7, 3)", "7,3", "7; 3", "7 and 3", "[7 3]", (7, 3), [7, 3], np.array([7, 3])],
    # commas group digits where that gives as many numbers as are wanted
    (7, 300): ["7,300"],
    (1000, 7300): ["1,000 7,300"],
    7300: ["7,300"],
    True: ["yes", "Y", " true", "YES.", True],
    (True, False): ["(True, False)", "yes no", "y, n"],
    "`th`": ['"TH"', " th "],
}

HEIGHTS = {"choices": ("higher", "lower", "about the same")}
SHARES = {"less than 5 %": 0.05, "5 to 20 %": 0.2, "more": math.inf}
NUMBERS = {"choices": (10, 100, 1000)}

# An answer, its options, and guesses that are right and wrong.
JUDGED = [
    ((3, 7), {}, [], ["7 3", (7, 3)]),
    (50, {}, ["50%"], ["0.5"]),
    (False, {}, ["no", "F"], ["yes", True]),
    ((True, False), {}, [], ["no, no"]),
    ("`th`", {}, [], ["he"]),
    # a choice is read from its beginning, if only one begins so
    ("lower", HEIGHTS, ["lower", "Lower ", "'lower'", "l", "low"], ["about", "h"]),
    ("a", {"choices": ("a", "ab")}, ["a"], ["ab"]),
    (1000, NUMBERS, ["1,000", "1000", 1000, np.int64(1000)], ["100"]),
    (np.int64(10), NUMBERS, [10], [1000]),
    (1, {"choices": (0, 1)}, ["1"], ["0"]),
    # a number is asked for by the bucket that it lies in: below the limit, not at it
    (0.19, {"buckets": SHARES}, ["5 to 20 %"], ["less than 5 %"]),
    (0.05, {"buckets": SHARES}, ["5 to 20 %"], ["less than 5 %"]),
    (-1, {"buckets": SHARES}, ["less"], ["more"]),
    (1e9, {"buckets": SHARES}, ["more"], ["5"]),
    # an integer is to be met, and a fraction to one percent, unless it is said how far off it may be
    (100, {}, [], ["101"]),
    (100.0, {}, ["101"], ["102"]),
    (2 / 3, {}, ["0.67"], ["0.65"]),
    (0.0, {}, ["0"], ["0.001"]),
    (200, {"within": 0.1}, ["180", "220"], ["179"]),
    (-200, {"within": 0.1}, ["-190"], ["200"]),
    ((200, 10), {"within": 0.1}, ["190 11"], ["190 12"]),
    (0.3, {"within": 0.1}, ["0.33"], []),
]

# An answer, a guess that cannot be read, the options, and words of what is said.
UNREADABLE = [
    (7, "many", {}, "such as 7"),
    ((1, 2), "3", {}, "2 numbers"),
    ((True, False), "yes", {}, "yes or no 2 times"),
    ((True, False), "yes maybe", {}, "yes or no 2 times"),
    ("a", "c", {"choices": ("a", "b")}, "one of: a, b"),
    ("a", "", {"choices": ("a", "b")}, "one of: a, b"),
    ("ab", "a", {"choices": ("ab", "ac")}, "one of: ab, ac"),
]

# Not one number.
NONSENSE = ["", "many", "T+1", "x7", "7-3", "7 3", "3 or 4", "gpt2", "1.2.3", "nan", None, [], {}]
