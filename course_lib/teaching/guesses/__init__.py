"""Guess first: a prompt takes a guess, compares it, and only then shows the answer.

Nothing stops a reader who just runs the cells.

answers    what can be asked for, when a guess meets it, and how it is written
reading    a guess is read leniently
boxes      a box to type into, or a button for each choice
prompts    questions that take guesses, and what becomes of them
"""

from course_lib.teaching.guesses.boxes import WIDGET, widgets_are_live
from course_lib.teaching.guesses.prompts import predict, show_guesses
