"""Hostile calls of what tells a reader's progress: `show_progress` and `welcome_back` take nothing."""

CALLS = {
    "Standing(2, 'T', '02_t.ipynb', [], [], [], -1).left": "",
    "Standing(2, 'T', '02_t.ipynb', [], [], [], -1).row": ["2. T", "", 0, "0 of 0", "0 of 0"],
    "Standing(2, 'T', '02_t.ipynb', [None], ['failed'], [], 0).left": "1 guess and 1 verdict",
    "Progress([]).advice": "You have done everything.",
    "Progress([]).latest": None,
}

TAKES_NO_DATA = {
    "show_progress": "takes no arguments",
    "welcome_back": "takes no arguments",
}
