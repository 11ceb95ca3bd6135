"""How guesses are written, and what becomes of them: in a notebook, and on a page of the site, which judges by itself.

`tests/test_guesses.py` goes through these tables in Python, `tests/test_book_guesses.py` in a browser.
"""

import math

import numpy as np
import torch

# Each of them is right.
WRITTEN = {
    1000: ["1,000", "1000", " 1 000 ", "1_000", "1'000", "1e3", "10^3", "10**3", "1k", "1 thousand", "2000/2"],
    7: ["7", "7.", "(7)", "7 windows", "about 7", "~7", "≈ 7", "seven", "+7", "7x", "7 times", "10 - 2 - 1", 7],
    0.5: [
        "0.5",
        ".5",
        "0,5",
        "50%",
        "50 percent",
        "1/2",
        0.5,
        np.float32(0.5),
        torch.tensor(0.5),
        "1 - 0.5",
        "4 / 4 / 2",
    ],
    0.501: ["half", "one half", "a half", "about half", "½"],
    2 / 3: ["two thirds", "2/3", "66.7%", "1 - 1/3"],
    37.5: ["37.5 %", "75 / 2"],
    0.125: ["0,125", "1/8", "2^-3", "2 ** -3"],
    -3: ["-3", "−3", -3, "minus 3", "minus three", "4 - 7"],
    2_500_000: ["2.5m", "2.5 million", "2,500k", "two million five hundred thousand"],
    25: ["twenty-five", "twenty five", "100 / 4", "5^2", "(2 + 3) * 5"],
    512: ["64*8", "64 * 8", "64 x 8", "64×8", "64 times 8", "2^9", "2^3^2", "eight times 64"],
    500: ["five hundred", "5 hundred"],
    math.log(79): ["ln 79", "ln(79)", "LN 79", "ln79", "4.37"],
    math.sqrt(2): ["sqrt 2", "sqrt(2)", "√2", "2^0.5", "1.414"],
    math.exp(-1): ["1/e", "e^-1", "exp(-1)", "1 / e", "36.8 %"],
    3.0: ["log2 8", "0.1 * 30"],
    (7, 3): ["7 3", "(7, 3)", "7,3", "7; 3", "7 and 3", "[7 3]", (7, 3), [7, 3], np.array([7, 3])],
    # commas group digits where that gives as many numbers as are wanted
    (7, 300): ["7,300"],
    (196, 195): ["196 windows, the last starts at 195", "196, 195", "200 - 4 and 200 - 5"],
    (7, -3): ["7 -3", "7, -3"],
    (1 / 9, 0.5): ["1/9 1/2", "1/9, half"],
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

# Not one number, or it might mean another one.
NONSENSE = ["", "many", "T+1", "x7", "7-3", "5-10", "7 3", "3 or 4", "gpt2", "1.2.3", "nan", None, [], {}]
NONSENSE += ["all", "all but one", "all except 7", "at least 7", "more than 7", "twice 7", "not 7", "7 or so", "log 79"]
NONSENSE += [
    "(7",
    "7)",
    "7 +",
    "* 7",
    "ln",
    "ln 0",
    "sqrt -1",
    "1 in 7",
    "1/0",
    "0^-1",
    "9e999",
    "9^9^9",
    "1e364 + 1",
    "9e307 thousand",
    "7!",
    "(" * 90,
    "7" * 101,
]
