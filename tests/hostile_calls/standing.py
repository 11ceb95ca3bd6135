"""Hostile calls of what tells how far a reader is."""

CALLS = {
    "show_progress(3)": TypeError("exercises must be those of a lesson, imported from course_lib.exercises, got 3"),
    "show_progress(np)": ValueError("exercises must be those of a lesson, imported from course_lib.exercises"),
}
TAKES_NO_DATA = {
    "Standing": "show_progress makes it",
    "explain_missing_names": "takes no arguments",
    "names_of_lesson": "takes no arguments",
}
