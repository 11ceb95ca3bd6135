"""The checker judges a reader's answers, and says which mistake they make.

comparing      compares two results, and describes how they differ
calling        calls an answer, and records what it did
processes      forked processes with limits of computing time, sleep and memory
running        runs an answer so that it can do no harm
writing        how calls and results are written
messages       what a check says: words, sign and color, and a number for programs
slips          wrong answers that tables make from right ones
mistakes       all wrong answers to an exercise, and what each does in its calls
diagnosing     says what is wrong with an answer, from the results of its calls
sources        reads how a function is written
exercises      functions to write
questions      is this a bug? is this claim true?
drawn_numbers  questions whose numbers a seed draws
"""

from course_lib.teaching.checker.calling import Case, Outcome, run
from course_lib.teaching.checker.comparing import same
from course_lib.teaching.checker.drawn_numbers import NumbersQuestion, numbers
from course_lib.teaching.checker.exercises import Exercise, exercise
from course_lib.teaching.checker.messages import (
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    Judgment,
    Score,
    show_scores,
)
from course_lib.teaching.checker.questions import Question, bug_or_not, true_or_false
