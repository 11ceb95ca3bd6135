"""Judge a reader's answer by calling it, and say what is wrong with it.

An exercise is its solution, the calls that try an answer, two hints, and about six
usual mistakes, each of them a wrong answer with one sentence:

    @exercise(cases=_numbers, hints=("Think of twice.", "Use `* 2`."))
    def double(number: int) -> int:
        \"\"\"Return twice the number.\"\"\"
        return 2 * number

    double.mistake("this is the square.", lambda number: number**2)

An answer that does in all calls what a mistake does is told its sentence.
"""

from course_lib.teaching.checker.calls import Case, Outcome, run
from course_lib.teaching.checker.comparing import same
from course_lib.teaching.checker.exercises import Exercise, exercise
from course_lib.teaching.checker.messages import (
    FAILED,
    NOT_ATTEMPTED,
    PASSED,
    RAISED,
    Judgment,
    Score,
)
from course_lib.teaching.checker.questions import (
    Question,
    bug_or_not,
    true_or_false,
)
