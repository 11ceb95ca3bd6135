"""Guess first: a prompt takes a guess, compares it, and only then shows the answer.

Nothing stops a reader who just runs the cells.
"""

from course_lib.teaching.guesses.boxes import WIDGET, widgets_are_live
from course_lib.teaching.guesses.prompts import predict
