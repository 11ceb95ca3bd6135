"""Exercises, one module a lesson; `course_lib.teaching.checker` judges the answers.

from course_lib.exercises import sliding_windows as exercises

exercises.tokens_in_tail.check(tokens_in_tail)  # also .hint(), .hint(2), .solution()
"""
