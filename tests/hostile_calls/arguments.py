"""Hostile calls of the checks that all others rest on."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch

from course_lib.foundation import CharTokenizer, check_state

MASKED = np.ma.masked_array([1, 2, 3], mask=[False, True, False])
FILE = memoryview(b"\0\1")
ON_META, SPARSE = torch.tensor([1, 2], device="meta"), torch.tensor([0, 2]).to_sparse()
RATES = {"rank": 0, "base_seed": None}


def kind(value):
    return type(value).__name__


def saved(**changes):
    return check_state({"epoch": 3} | RATES | changes, RATES, ["epoch"], owner="loader")


def writable(array):
    return array.flags.writeable


CALLS = {
    # examples
    "named_elsewhere(length='use `size`')(sorted)([2, 1])": [1, 2],
    "named_elsewhere(length='use `size`')(sorted)([2, 1], length=3)": TypeError(
        "sorted has no argument 'length': use `size`"
    ),
    "[check_integer('rank', value, minimum=0, maximum=2) for value in (0, 1, 2)]": [0, 1, 2],
    "repr(check_flag('shuffle', np.True_))": "True",
    "repr(check_flag('shuffle', np.False_))": "False",
    "repr(check_flag('shuffle', True))": "True",
    "repr(check_flag('shuffle', False))": "False",
    "check_epoch(3, 3)": 3,
    "check_epoch(2, 3)": ValueError("epoch must be at least 3, the epoch of the loaded state, got 2"),
    "check_epoch(2.0, 0)": TypeError("epoch must be"),
    "check_epoch(3, nan)": TypeError("resumed_at must be an integer of at least 0, got nan"),
    "check_epoch(3, -1)": ValueError("resumed_at must be an integer of at least 0, got -1"),
    "check_epoch(2**63, 0)": ValueError("epoch must be"),
    "check_index(slice(1, 2))": slice(1, 2),
    "check_index(())": TypeError("index must be an integer, a slice or an array of integers, got ()"),
    "check_index(None)": TypeError("index must be integers, got NoneType"),
    # integers
    "check_integer('n', np.int16(5), minimum=0)": 5,
    "kind(check_integer('n', np.int16(5), minimum=0))": "int",
    "kind(check_integer('n', torch.tensor(5, dtype=torch.uint8), minimum=0))": "int",
    "check_integer('n', np.uint64(2**64 - 1), minimum=0)": 2**64 - 1,
    "check_integer('n', np.array(5), minimum=0)": 5,
    "check_integer('n', np.int8(-1), minimum=0)": ValueError("n must be an integer of at least 0, got -1"),
    "check_integer('n', 2**64, minimum=0, maximum=9)": ValueError("at most 9, got 18446744073709551616"),
    "check_integer('n', 10**5000, minimum=0, maximum=9)": ValueError("got an integer of 16610 bits"),
    "check_integer('n', torch.tensor([5]), minimum=0)": TypeError("got tensor([5]) (Tensor)"),
    "check_integer('n', np.array([5]), minimum=0)": TypeError("got array([5]) (ndarray)"),
    "check_integer('n', torch.tensor(True), minimum=0)": TypeError("got tensor(True) (Tensor)"),
    "check_integer('n', np.array(True), minimum=0)": TypeError("got array(True) (ndarray)"),
    "check_integer('n', np.True_, minimum=0)": TypeError("n must be an integer"),
    "check_integer('n', 5.0, minimum=0)": TypeError("got 5.0 (float)"),
    "check_integer('n', nan, minimum=0)": TypeError("got nan (float)"),
    "check_integer('n', '5', minimum=0)": TypeError("got '5' (str)"),
    "check_integer('n', None, minimum=0)": TypeError("got None (NoneType)"),
    "check_integer('n', ..., minimum=0)": TypeError("got Ellipsis (ellipsis)"),
    "check_integer('n', np.datetime64('2020-01-01'), minimum=0)": TypeError("(datetime64)"),
    "check_integer('n', np.timedelta64(3, 'ns'), minimum=0)": TypeError("(timedelta64)"),
    "check_integer('n', np.array(3, dtype='M8[ns]'), minimum=0)": TypeError("n must be an integer"),
    "check_integer('n', torch.tensor(3, device='meta'), minimum=0)": TypeError("device='meta'"),
    "check_integer('n', torch.tensor(2.0), minimum=1)": TypeError("got tensor(2.) (Tensor)"),
    "check_integer('n', 0, minimum=1)": ValueError("n must be an integer of at least 1, got 0"),
    "check_integer('n', -10**30, minimum=1)": ValueError("got -1000000000000000000000000000000"),
    "check_integer('n', 3, minimum=0, maximum=2)": ValueError(
        "n must be an integer of at least 0 and at most 2, got 3"
    ),
    "check_integer('n', [0] * 1_000_000, minimum=0)": TypeError("n must be an integer of at least 0, got [0, 0, 0"),
    # numbers
    "check_number('x', 3)": 3.0,
    "kind(check_number('x', 3))": "float",
    "kind(check_number('x', np.float16(0.5)))": "float",
    "check_number('x', torch.tensor(0.5, dtype=torch.bfloat16))": 0.5,
    "check_number('x', np.array(0.5), above=0)": 0.5,
    "check_number('x', np.int8(-128), maximum=0)": -128.0,
    "check_number('x', Fraction(1, 4), minimum=0, maximum=1)": 0.25,
    "check_number('x', 0, minimum=0)": 0.0,
    "check_number('x', 1, minimum=0, maximum=1)": 1.0,
    "check_number('x', 0, above=0)": ValueError("x must be a finite number above 0, got 0"),
    "check_number('x', -0.0, above=0)": ValueError("x must be a finite number above 0, got -0.0"),
    "check_number('x', 2, minimum=0, maximum=1)": ValueError("a finite number of at least 0 and of at most 1, got 2"),
    "check_number('x', nan)": ValueError("x must be a finite number, got nan"),
    "check_number('x', np.float32('nan'), minimum=0)": ValueError("got nan"),
    "check_number('x', -inf, maximum=0)": ValueError("of at most 0, got -inf"),
    "check_number('x', 10**400)": ValueError("got an integer of 1329 bits"),
    "check_number('x', np.timedelta64(3, 'ns'))": TypeError("(timedelta64)"),
    "check_number('x', torch.tensor(0.5, device='meta'))": TypeError("device='meta'"),
    "check_number('x', True)": TypeError("x must be a finite number, got True (bool)"),
    "check_number('x', torch.tensor(True))": TypeError("got tensor(True) (Tensor)"),
    "check_number('x', '0.5')": TypeError("got '0.5' (str)"),
    "check_number('x', None, above=0)": TypeError("above 0, got None (NoneType)"),
    "check_number('x', 1j)": TypeError("got 1j (complex)"),
    "check_number('x', [0.5])": TypeError("got [0.5] (list)"),
    "check_number('x', np.array([0.5]))": TypeError("got array([0.5]) (ndarray)"),
    "check_number('x', Decimal('0.5'))": TypeError("got Decimal('0.5') (Decimal)"),
    # flags
    "check_flag('shuffle', False)": False,
    "kind(check_flag('shuffle', np.True_))": "bool",
    "check_flag('shuffle', 'False')": TypeError("shuffle must be True or False, got 'False' (str)"),
    "check_flag('shuffle', 0)": TypeError("got 0 (int)"),
    "check_flag('shuffle', nan)": TypeError("got nan (float)"),
    "check_flag('shuffle', None)": TypeError("got None (NoneType)"),
    "check_flag('shuffle', [False])": TypeError("got [False] (list)"),
    # choices
    "check_choice('crop', 'oldest', ('shortest', 'oldest'))": "oldest",
    "check_choice('form', None, (None, 'NFC'))": None,
    "check_choice('crop', np.str_('oldest'), ('shortest', 'oldest'))": "oldest",
    "check_choice('crop', 'old', ('shortest', 'oldest'))": ValueError(
        "crop must be one of 'shortest', 'oldest', got 'old'"
    ),
    "check_choice('crop', None, ('shortest', 'oldest'))": TypeError("got None (NoneType)"),
    "check_choice('crop', ['oldest'], {'shortest': 1, 'oldest': 2})": TypeError("got ['oldest'] (list)"),
    "check_choice('crop', np.array(['oldest', 'a']), ('shortest', 'oldest'))": TypeError("(ndarray)"),
    "check_choice('crop', {}, iter(('shortest', 'oldest')))": TypeError(
        "crop must be one of 'shortest', 'oldest', got {}"
    ),
    # paths
    "check_path('path', 'a/b')": Path("a/b"),
    "check_path('path', Path('.'))": Path("."),
    "check_path('path', '~/a')": Path.home() / "a",
    "check_path('path', Path('~/a'))": Path.home() / "a",
    "check_path('path', '~nouser/a')": Path("~nouser/a"),
    "check_path('path', None)": TypeError("path must be a path, a str or a Path, got None (NoneType)"),
    "check_path('path', 5)": TypeError("got 5 (int)"),
    "check_path('path', b'')": TypeError("got b'' (bytes)"),
    "check_path('path', [])": TypeError("got [] (list)"),
    "check_path('path', '')": ValueError("path must be a path of a file or folder, got ''"),
    "check_path('path', 'a\\0b')": ValueError("got 'a\\x00b'"),
    # series
    "check_iterable('tasks', [])": [],
    "len(check_iterable('tasks', range(3)))": 3,
    "list(check_iterable('tasks', iter('ab')))": ["a", "b"],
    "check_iterable('tasks', None, 'tasks')": TypeError("tasks must be several tasks, got None (NoneType)"),
    "check_iterable('tasks', 'ab')": TypeError("tasks must be several values, got 'ab' (str)"),
    "check_iterable('tasks', b'ab')": TypeError("got b'ab' (bytes)"),
    "check_iterable('tasks', {'a': 1})": TypeError("got {'a': 1} (dict)"),
    "check_iterable('tasks', np.array(3))": TypeError("got array(3) (ndarray)"),
    "check_iterable('tasks', torch.tensor(3))": TypeError("got tensor(3) (Tensor)"),
    # tensors
    "check_dense('x', torch.ones(2, requires_grad=True)).requires_grad": False,
    "check_dense('x', ON_META)": TypeError("x must be a dense tensor on a device with data, got one of torch.int64"),
    "check_dense('x', SPARSE)": TypeError("torch.sparse_coo, on cpu"),
    # arrays of integers
    "as_integers('n', ON_META)": TypeError("n must be a dense tensor on a device with data"),
    "as_integers('n', SPARSE)": TypeError("n must be a dense tensor on a device with data"),
    "as_integers('n', 5)": np.array(5),
    "as_integers('n', [])": np.array([], dtype=int),
    "writable(as_integers('n', np.arange(3)))": False,
    "writable(as_integers('n', [1, 2, 3]))": False,
    "as_integers('n', MASKED)": TypeError("n must be integers, got MaskedArray: take the masked ones out"),
    "as_integers('n', MASKED.compressed())": np.array([1, 3]),
    "as_integers('n', [True, 2, 3])": TypeError("n must be integers, got list with True or False in it"),
    "as_integers('n', (2, np.False_))": TypeError("got tuple with True or False in it"),
    "as_integers('n', [[1, 2], [True, 3]])": TypeError("got list with True or False in it"),
    "as_integers('n', [torch.tensor(True), 5])": TypeError("got list with True or False in it"),
    "as_integers('n', [np.array(True), 2])": TypeError("got list with True or False in it"),
    "as_integers('n', [[1], [np.True_]])": TypeError("got list with True or False in it"),
    "as_integers('n', [np.uint64(5), 1])": np.array([5, 1]),
    "as_integers('n', [[np.uint64(5)], [-1]])": np.array([[5], [-1]]),
    "as_integers('n', [np.uint64(5), True])": TypeError("got list with True or False in it"),
    "as_integers('n', [np.uint64(5), 1.0])": TypeError("got list of float64"),
    "as_integers('n', [np.uint64(2**63), 1])": TypeError("got list of mixed or oversized values"),
    "as_integers('n', [2**63])": ValueError("n must fit into 64-bit signed integers, got 9223372036854775808"),
    "as_integers('n', bytearray(b'ab'))": TypeError("n must be integers, got text (bytearray): encode it first"),
    "as_integers('n', FILE)": TypeError("got text (memoryview)"),
    "as_integers('n', np.array(['a']))": TypeError("got ndarray of <U1"),
    "as_integers('n', [1, [2]])": ValueError("n must be a regular array"),
    "as_integers('n', np.array([2**63], dtype=np.uint64))": ValueError("must fit into 64-bit signed integers"),
    "as_integers('n', [2**64])": TypeError("got list of mixed or oversized values"),
    "as_integers('n', np.array([1, None]))": TypeError("got ndarray of mixed or oversized values"),
    "as_integers('n', torch.tensor([1j]))": TypeError("got Tensor of complex64"),
    "as_integers('n', [[1, 2], [3]])": ValueError("n must be a regular array, got rows of different lengths"),
    # streams
    "as_stream('ids', 'text')": TypeError("ids must be integers, got text (str): encode it first"),
    "as_stream('ids', b'text')": TypeError("ids must be integers, got text (bytes)"),
    "as_stream('ids', [0.0, 1.0])": TypeError("ids must be integers, got list of float64"),
    "as_stream('ids', [1, 2.5])": TypeError("ids must be integers, got list of float64"),
    "as_stream('ids', [True, False])": TypeError("ids must be integers, got list of bool"),
    "as_stream('ids', np.zeros(2, dtype=np.float32))": TypeError("ids must be integers, got ndarray of float32"),
    "as_stream('ids', np.zeros(2, dtype=bool))": TypeError("ids must be integers, got ndarray of bool"),
    "as_stream('ids', np.array([], dtype=np.float64))": TypeError("ids must be integers, got ndarray of float64"),
    "as_stream('ids', torch.zeros(2))": TypeError("ids must be integers, got Tensor of float32"),
    "as_stream('ids', torch.zeros(2, dtype=torch.bfloat16))": TypeError("ids must be integers, got Tensor of bfloat16"),
    "as_stream('ids', torch.zeros(2, dtype=torch.bool))": TypeError("ids must be integers, got Tensor of bool"),
    "as_stream('ids', ['a', 'b'])": TypeError("ids must be integers, got list of <U1"),
    "as_stream('ids', [1, None])": TypeError("ids must be integers, got list of mixed or oversized values"),
    "as_stream('ids', [2**70])": TypeError("ids must be integers, got list of mixed or oversized values"),
    "as_stream('ids', None)": TypeError("ids must be integers, got NoneType"),
    "as_stream('ids', {1, 2})": TypeError("ids must be integers, got set"),
    "as_stream('ids', np.zeros((2, 3), dtype=int))": ValueError("ids must be one-dimensional, got shape (2, 3)"),
    "as_stream('ids', torch.zeros(2, 3, dtype=torch.int64))": ValueError("got shape (2, 3)"),
    "as_stream('ids', [[]])": ValueError("ids must be one-dimensional, got shape (1, 0)"),
    "as_stream('ids', 5)": ValueError("ids must be one-dimensional, got shape ()"),
    "as_stream('ids', np.array([0, 2**64 - 1], dtype=np.uint64))": ValueError(
        "ids must fit into 64-bit signed integers"
    ),
    "as_stream('ids', np.array([2**63 - 1], dtype=np.uint64))": np.array([2**63 - 1]),
    "as_stream('ids', np.memmap)": TypeError("ids must be integers, got type"),
    "as_stream('ids', torch.tensor(3))": ValueError("ids must be one-dimensional, got shape ()"),
    "as_stream('corpus', [[1], [2]])": ValueError("corpus must be one-dimensional, got shape (2, 1)"),
    "as_stream('ids', {3: 1})": TypeError("ids must be integers, got dict"),
    "as_stream('ids', iter([1, 2]))": TypeError("ids must be integers, got list_iterator"),
    "as_stream('ids', torch.tensor([70_000]))": np.array([70_000]),
    "writable(as_stream('ids', torch.tensor([1, 2])))": False,
    "check_range('ids', np.array([0, 7]), 7)": ValueError("ids must lie in 0 ... 6, got 0 ... 7"),
    "check_type('text', b'a', str)": TypeError("text must be a str, got bytes"),
    "check_type('text', np.str_('a'), str)": "a",
    "check_callable('model', int)": int,
    "check_callable('model', None)": TypeError("model must be callable, got None (NoneType)"),
    "check_callable('model', 'print')": TypeError("model must be callable, got 'print' (str)"),
    "as_numbers('x', np.array(2**63 - 1))": 2.0**63,
    "as_numbers('x', torch.ones(2, dtype=torch.bfloat16))": np.ones(2),
    "as_numbers('x', np.ma.array([1, 2], mask=[0, 1]))": np.array([1, np.nan]),
    "as_numbers('x', torch.ones(2, dtype=torch.complex64))": TypeError("x must be numbers, got ndarray of complex64"),
    "as_numbers('x', torch.ones(2, device='meta'))": TypeError("x must be a dense tensor on a device with data"),
    "as_numbers('x', [True, False])": TypeError("x must be numbers, got list of bool"),
    "as_numbers('x', [True, False], 'b')": np.array([1.0, 0.0]),
    "as_numbers('x', [[1], [1, 2]])": ValueError("x must be a regular array, got rows of different lengths"),
    "as_numbers('x', np.timedelta64(3, 'ns'))": TypeError("x must be numbers, got timedelta64 of timedelta64[ns]"),
    "check_range('ids', np.array([[-1], [3]]), 7)": ValueError("ids must lie in 0 ... 6, got -1 ... 3"),
    "check_range('places', np.array(9), 3, IndexError)": IndexError("places must lie in 0 ... 2, got 9 ... 9"),
    "check_range('ids', np.array([], dtype=int), 0)": np.array([]),
    "check_range('ids', [1, 2], 3)": np.array([1, 2]),
    "check_range('ids', None, 3)": TypeError("ids must be integers, got NoneType"),
    "check_range('ids', 'ab', 3)": TypeError("ids must be integers, got text (str)"),
    "check_range('ids', np.array([0.5, nan]), 3)": TypeError("ids must be integers, got ndarray of float64"),
    "check_range('ids', torch.tensor([1, 9]), 3)": ValueError("ids must lie in 0 ... 2, got 1 ... 9"),
    "check_range('ids', np.array([255], dtype=np.uint8), 256)": np.array([255]),
    "check_state(None, {}, [], owner='loader')": TypeError("state must be a dict that `state_dict` returned"),
    "check_state('ab', {}, ['a', 'b'], owner='loader')": TypeError("state must be a dict"),
    "check_state({}, {}, [], owner='loader')": {},
    "check_state({}, {}, ['epoch'], owner='loader')": ValueError("state must have the keys ['epoch'], got []"),
    "saved()": {"epoch": 3} | RATES,
    "saved(rank=1)": ValueError("state was saved with rank=1, but this loader has rank=0"),
    "saved(rank=0.0)": ValueError("state was saved with rank=0.0, but this loader has rank=0"),
    "saved(rank=None)": ValueError("state was saved with rank=None"),
    "saved(rank='0')": ValueError("state was saved with rank='0'"),
    "saved(rank=np.int64(0))": ValueError("state was saved with rank=np.int64(0)"),
    "saved(rank=np.array([0]))": ValueError("state was saved with rank=array([0])"),
    "saved(more=1)": ValueError(
        "state must have the keys ['base_seed', 'epoch', 'rank'], got ['base_seed', 'epoch', 'm"
    ),
    "check_state({'rank': 0, 7: 1}, {'rank': 0}, ['epoch'], owner='')": ValueError(
        "must have the keys ['epoch', 'rank']"
    ),
    "check_state([], {}, [], owner='loader')": TypeError("state must be a dict that `state_dict` returned, got list"),
    "check_state({'rank': True}, {'rank': 1}, [], owner='loader')": ValueError("state was saved with rank=True"),
    "check_state({'rank': nan}, {'rank': 1}, [], owner='loader')": ValueError("state was saved with rank=nan"),
    "check_unicode('text', '')": "",
    "check_unicode('text', 'a\\U0010ffff')": "a\U0010ffff",
    "check_unicode('text', '\\ud83d\\ude00b')": "\U0001f600b",
    "check_unicode('text', '\\ud83d\\ude00\\ud83d')": ValueError(
        "but character 1 is half of one: '\\ud83d'; replace such halves"
    ),
    "CharTokenizer('a\\ud83d\\ude00').encode('\\ud83d\\ude00')": np.array([1]),
    "CharTokenizer('a\\ud83d')": ValueError("characters must be Unicode, but character 1 is half of one"),
    "CharTokenizer('a').encode('\\ud83d')": ValueError("text must be Unicode"),
    "check_unicode('text', 'a\\udc00')": ValueError("text must be Unicode, but character 1 is half of one: '\\udc00'"),
    "check_unicode('text', b'a')": TypeError("text must be a str, got bytes"),
}
TAKES_NO_DATA = {
    **dict.fromkeys(("AtLeast", "Finite", "OneOf", "Several", "InstanceOf", "OrNone"), "a kind: see test_kinds.py"),
    **dict.fromkeys(("checked", "checks_of", "check_of"), "they read annotations: see test_kinds.py"),
    "check_any_integer": "it is `check_integer` without bounds",
}
