"""Hostile calls of what tells a reader's progress."""

CALLS = {
    "Standing(2, 'T', '02_t.ipynb', [], {}, {}, -1).left": "",
    "Standing(2, 'T', '02_t.ipynb', [], {}, {}, -1).row": ["2. T", "", 0, "0 of 0", "0 of 0"],
    "Standing(2, 'T', '02_t.ipynb', [None], {'a': 'failed'}, {}, 0).left": "1 guess and 1 verdict",
    "show_progress(3)": ValueError("exercises must be those of a lesson, got 3"),
    "show_progress(np)": ValueError("exercises must be those of a lesson"),
    "Progress([]).advice": "You have done everything.",
    "Progress([]).latest": None,
}

TAKES_NO_DATA = {
    "welcome_back": "takes no arguments",
}
