"""The checker judges a reader's answers, and says which mistake they make."""

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
)
from course_lib.teaching.checker.questions import Question, bug_or_not, true_or_false
