"""The checker: judges a reader's answers, and says which mistake they make.

comparing      when two results are the same, and what can be said if they are not
calling        calls an answer, and looks what it did
processes      forked ones, with limits of computing time, sleep and memory
running        lets an answer run without being harmed by it
writing        how calls and results are written
messages       what a check says: words, sign and color, and a number for programs
slips          wrong answers made from right ones, by tables
mistakes       all wrong answers to an exercise, and what each does in its calls
diagnosing     what is wrong with an answer, by what came of its calls
sources        reads how a function is written
exercises      functions to write
questions      is this a bug? is this claim true?
drawn_numbers  what is the answer, with the numbers of this seed?
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
