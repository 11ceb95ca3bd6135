"""Hostile calls of what finds the same text twice."""

from course_lib.foundation import Copies

CALLS = {
    "normalized('A  b\\n')": "a b",
    "normalized('')": "",
    "normalized('\u0390'.upper()) == normalized('\u0390')": True,  # an iota with two marks
    "normalized(5)": TypeError("text must be a str"),
    "normalized(None)": TypeError("text must be a str"),
    "count_copies([])": Copies(0, 0, 0),
    "count_copies(['a', 'A'], val_every=1)": Copies(2, 1, 0),
    "count_copies([{'text': ['a', 'a']}], val_every=2)": Copies(2, 1, 1),
    "count_copies('aa')": TypeError("texts must be several texts"),
    "count_copies([None])": TypeError("texts[0] must be a str"),
    "count_copies(['a'], val_every=0)": ValueError("val_every must be"),
    "count_copies(['a'], val_every=None)": TypeError("val_every must be"),
    "Copies(1, 0, 0).across": 0,
    "Copies(1)": TypeError("missing 2 required"),
    "list(drop_copies([]))": [],
    "list(drop_copies(['', ' ', 'a']))": ["", "a"],
    "list(drop_copies(['a', 'A ']))": ["a"],
    "drop_copies(5)": TypeError("texts must be several texts"),
    "drop_copies({'text': ['a']})": TypeError("texts must be several texts"),
    "list(drop_copies(['a', 5]))": TypeError("texts[1] must be a str"),
}
