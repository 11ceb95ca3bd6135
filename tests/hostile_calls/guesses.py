"""Hostile calls of what asks for guesses."""

from course_lib.teaching import record as _record
from course_lib.teaching.guesses import prompts as _guesses

ASKED = "Asked of nobody else?"


def guessed(answer, guess, **options):
    """Whether a guess is right, or None if it cannot be read. The question is asked anew each time."""
    outcome = _guesses.predict(ASKED, answer, **options).guess(guess).outcome
    _guesses._replies.pop(ASKED, None)
    _record._of_this_kernel.pop(ASKED, None)
    return {"passed": True, "failed": False, "raised": None}[outcome]


CALLS = {
    "predict('how many?', np.timedelta64(3, 'ns'))": TypeError("answer must be a number, text, True or False"),
    "predict('how many?', np.array([3], 'm8[ns]'))": TypeError("answer must be a number, text, True or False"),
    "predict('how many?', torch.ones(2, device='meta'))": TypeError("answer must be a dense tensor"),
    "predict('', 3)": ValueError("question must not be empty, got ''"),
    "predict(' ', 3)": ValueError("question must not be empty, got ' '"),
    "predict(7, 3)": TypeError("question must be text, got int"),
    "predict('?', None)": TypeError("answer must be a number, text, True or False, or a tuple"),
    "predict('?', {1, 2})": TypeError("got set"),
    "predict('?', 1j)": TypeError("got complex"),
    "predict('?', nan)": ValueError("answer must be a finite number, got nan"),
    "predict('?', inf)": ValueError("answer must be a finite number, got inf"),
    "predict('?', (1, nan))": ValueError("each part of answer must be a finite number, got nan"),
    "predict('?', torch.tensor(nan))": ValueError("answer must be a finite number, got nan"),
    "predict('?', '')": ValueError("answer must not be empty text"),
    "predict('?', ())": ValueError("answer must have 1 to 8 parts, got 0"),
    "predict('?', np.arange(9))": ValueError("answer must have 1 to 8 parts, got 9"),
    "predict('?', np.eye(2))": TypeError("answer must have numbers or flags as parts"),
    "predict('?', ('a', 'b'))": TypeError("answer must have numbers or flags as parts"),
    "predict('?', (1, True))": TypeError("answer must have numbers or flags as parts"),
    "predict('?', 0.1, buckets=3)": TypeError("buckets must be a mapping, got int"),
    "predict('?', 'a', buckets={'a': 1, 'b': 2})": TypeError("answer must be a finite number"),
    "predict('?', 5, buckets={'a': 1, 'b': 2})": ValueError("buckets must have a place for 5.0, got limits [1.0, 2.0]"),
    "predict('?', 1, buckets={'a': 2, 'b': 1})": ValueError("buckets must have rising limits, got [2.0, 1.0]"),
    "predict('?', 1, buckets={'a': nan, 'b': inf})": ValueError("limit of 'a' must be a finite number"),
    "predict('?', 1, buckets={'a': 'b', 'b': inf})": TypeError("limit of 'a' must be a finite number"),
    "predict('?', 1, buckets={'a': 2, 'b': 3}, choices='ab')": ValueError("choices must be left out where buckets are"),
    "predict('?', 1, buckets={'a': 2, 'b': 3}, within=0.1)": ValueError("within must be left out"),
    "predict('?', 3, choices=3)": TypeError("choices must be a list of answers, got int"),
    "predict('?', 'a', choices='abc')": TypeError("choices must be a list of answers, got str"),
    "predict('?', 3, choices=())": ValueError("choices must be 2 to 8 answers, got 0"),
    "predict('?', 3, choices=[3])": ValueError("choices must be 2 to 8 answers, got 1"),
    "predict('?', 3, choices=range(9))": ValueError("choices must be 2 to 8 answers, got 9"),
    "predict('?', 3, choices=(1, 2))": ValueError("choices must hold the answer, 3, got (1, 2)"),
    "predict('?', True, choices=(1, 2))": ValueError("choices must hold the answer, True"),
    "predict('?', 3, choices=(1, 3, 3))": ValueError("choices must differ"),
    "predict('?', 'a', choices=('a', ' A '))": ValueError("choices must differ"),
    "predict('?', 3, choices=(3, None))": TypeError("each of choices must be a number"),
    "predict('?', 3, choices=(3, nan))": ValueError("each of choices must be a finite number"),
    "predict('?', 3, within=0)": ValueError("within must be a finite number above 0 and of at most 1, got 0"),
    "predict('?', 3, within=-0.1)": ValueError("within must be a finite number above 0"),
    "predict('?', 3, within=10)": ValueError("within must be a finite number above 0 and of at most 1, got 10"),
    "predict('?', 3, within='10%')": TypeError("within must be a finite number"),
    "predict('?', 3, within=True)": TypeError("within must be a finite number"),
    "predict('?', 'a', within=0.1)": ValueError("within must be left out where a guess is chosen or no number"),
    "predict('?', True, within=0.1)": ValueError("within must be left out"),
    "predict('?', (True, False), within=0.1)": ValueError("within must be left out"),
    "predict('?', 3, choices=(3, 4), within=0.1)": ValueError("within must be left out"),
    "guessed(np.int8(100), 100)": True,
    "guessed(np.bool_(True), 'Yes ')": True,
    "guessed(np.float32(0.1), '.1')": True,
    "guessed(torch.tensor([7, 3]), '7 3')": True,
    "guessed(2**70, 2**70)": True,
    "guessed(0, -0.0)": True,
    "guessed(0.0, 1e-12)": False,
    "guessed(7, True)": None,
    "guessed(7, None)": None,
    "guessed(7, nan)": None,
    "guessed(7, inf)": None,
    "guessed(7, '1e999')": None,
    "guessed(7, '10^999')": None,
    "guessed(7, '7/0')": None,
    "guessed(7, '0^-1')": None,
    "guessed(7, '9' * 400)": None,
    "guessed(7, '')": None,
    "guessed(7, [7, 7])": None,
    "guessed(7, '٣')": False,  # a three, as written in Arabic
    "guessed(7, 'x' * 100_000)": None,
    "guessed(7, '1,' * 50_000)": None,
    "guessed((7, 3), 7)": None,
    "guessed('a', '')": None,
    "guessed('a', ' ')": None,
    "guessed('b', '', choices=('a', 'b'))": None,
    "predict('?', 7, because={7: 'so'})": ValueError("because must have wrong guesses, but 7 is right"),
    "predict('?', 7, because={'x': 'so'})": ValueError("because must have guesses, got 'x'"),
    "predict('?', 7, because=[7])": AttributeError("items"),
}

TAKES_NO_DATA = {
    "widgets_are_live": "takes no arguments",
}
