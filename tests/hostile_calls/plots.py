"""Hostile calls of the figures: what cannot be drawn is refused, what is too much is bounded, and drawn it says so."""

import warnings

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from course_lib.foundation import token_ledger
from course_lib.teaching.plots.tables import Table
from course_lib.teaching.plots.tokenizations import TokenRows

MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
LABELS = {"x": "漢字 😀 $x$ \ud800", "y": "a\nb\0"}
LONG_STREAM = token_ledger(np.arange(0, 2_000_000, 65), 2_000_065, 64)
NO_STREAM = token_ledger([], 0, 4)


def draws(figure):
    """Whether a figure can be drawn without a warning (one a missing letter, by default), and how large it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FigureCanvasAgg(figure).draw()
    width, height = figure.get_size_inches()
    return bool(width == 9 and height < 17)


def says(figure):
    return figure.get_supxlabel()


CALLS = {
    # letters
    "draws(plot_shift(range(5), list('漢😀$\\n\\0')))": True,
    "draws(plot_shift(range(4), ['$a$', '$', '\\ud800', 'x' * 300]))": True,
    "draws(plot_shift([2**62, -2**62, 0]))": True,
    "draws(plot_bars({LABELS['x']: 1, LABELS['y']: 2, 'x' * 10_000: 3}, xlabel=LABELS['x']))": True,
    "draws(plot_spread({LABELS['x']: [1], LABELS['y']: [2]}, xlabel=LABELS['y']))": True,
    "draws(plot_losses({LABELS['x']: [1], LABELS['y']: [2]}, {LABELS['x']: 1}, ylabel=LABELS['y']))": True,
    "draws(plot_heatmap({LABELS['x']: [[1]]}, xlabel='$', ylabel='$$', label=LABELS['y'], zero='$0$'))": True,
    "draws(plot_pieces({LABELS['x']: ['漢', '😀', '$x$', '\\ud800', '\\u200d']}))": True,
    "draws(plot_merge_tree([list('漢$😀'), ['漢$', '😀']]))": True,
    # windows
    "draws(plot_shift(range(300)))": True,
    "says(plot_shift(range(300)))": "283 more ids of the window, not drawn",
    "plot_shift(range(1))": ValueError("window must have at least 2 ids"),
    "plot_shift(None)": TypeError("window must be integers"),
    "plot_shift([1.0, 2.0])": TypeError("window must be integers"),
    "plot_shift([True, 2, 3])": TypeError("window must be integers"),
    "plot_shift([1, 2], labels='abc')": ValueError("labels must be one for each of the 2 ids, got 3"),
    "draws(plot_windows(np.array([120], np.int8), 8, 60))": ValueError("starts must leave room for 9 ids"),
    "draws(plot_windows(np.array([50], np.uint8), 9, 60))": True,
    "plot_windows([2**62], 4, 10)": ValueError("starts must leave room for 5 ids"),
    "plot_windows([-1], 4, 10)": ValueError("got a window at -1"),
    "plot_windows([6], 4, 10)": ValueError("got a window at 6"),
    "plot_windows([0], 10, 10)": ValueError("starts must leave room for 11 ids in a stream of 10"),
    "plot_windows([[[0]]], 4, nan)": TypeError("num_tokens must be an integer"),
    "plot_windows([0], '4', 10)": TypeError("context_length must be an integer"),
    "plot_windows(range(1000), 4, 2000)": ValueError("num_tokens must be"),
    "plot_windows([0], 4, 10, ledger=token_ledger([0], 11, 4))": ValueError(
        "ledger must be of a stream of 10 tokens, got one of 11"
    ),
    "plot_windows([0], 4, 10, ledger=[0])": TypeError("ledger must be a TokenLedger"),
    "draws(plot_windows(range(35), 1, 36, ledger=token_ledger(range(35), 36, 1)))": True,
    "plot_tracks([[0]], 1, 1, carried='no')": TypeError("carried must be True or False"),
    "draws(plot_tracks([[0, 12]], 6, 12, carried=True))": True,
    "plot_windows(None, 4, 10)": TypeError("starts must be integers"),
    "plot_scored_windows([(0, 4, 5)], 10)": ValueError("scored must be an integer of at least 0 and at most 4"),
    "plot_scored_windows([(0, 10, 4)], 10)": ValueError("windows must leave room for 11 ids"),
    "plot_scored_windows([(0.5, 4, 4)], 10)": TypeError("windows must be integers"),
    "plot_scored_windows([], 10)": ValueError("number of windows must be"),
    # rows
    "plot_cuts({'a': [0, 3]}, 4, 10)": ValueError("at least 4 apart, got 0 and 3"),
    "plot_cuts({'a': [2, 2]}, 4, 10)": ValueError("at least 4 apart, got 2 and 2"),
    "plot_cuts({'a': [7]}, 4, 10)": ValueError("must hold windows of 4 in a stream of 10, got a start at 7"),
    "draws(plot_cuts({'a': np.array([0, 100], np.int8)}, 100, 60))": ValueError("must hold windows of 100"),
    "plot_cuts([[0]], 4, 10)": TypeError("rows must be a mapping of names"),
    "draws(plot_cuts({'a': []}, 4, 10))": True,
    "plot_tracks([[0, 5]], 0, 5)": ValueError("num_steps must be an integer of at least 1, got 0"),
    "plot_tracks([], 2, 5)": ValueError("starts must have shape (num_batches, B), got shape (0,)"),
    "plot_tracks([0, 5], 2, 5)": ValueError("starts must have shape (num_batches, B), got shape (2,)"),
    "plot_tracks([[0, 5]], 2, 10**9)": ValueError("row_length must be"),
    "plot_tracks([[0], [1]], 2, 5)": ValueError("starts must go on 2 ids later in every batch"),
    "draws(plot_tracks([[0]], 1, 24))": True,
    # ledgers
    "draws(plot_ledger(LONG_STREAM))": True,
    "says(plot_ledger(LONG_STREAM))": "each step is the mean of 2,000 tokens",
    "plot_ledger(NO_STREAM)": ValueError("a ledger must have tokens to be drawn, got none"),
    "plot_ledger(None)": TypeError("ledgers must be a ledger"),
    "plot_ledger({'a': None})": TypeError("ledgers['a'] must be a ledger"),
    # curves
    "plot_losses({})": ValueError("curves must have at least one name"),
    "plot_losses([1, 2])": TypeError("curves must be a mapping of names"),
    "plot_losses({'a': []})": ValueError("curves['a'] must have shape (points,) or (runs, points)"),
    "plot_losses({'a': [1, nan]})": ValueError("curves['a'] must be finite to be drawn, got nan"),
    "plot_losses({'a': [[1, 2], [3]]})": ValueError("rows of different lengths"),
    "plot_losses({'a': MASKED})": ValueError("curves['a'] must be finite to be drawn, got nan"),
    "plot_losses({'a': ['1', '2']})": TypeError("curves['a'] must be numbers"),
    "plot_losses({'a': [1j]})": TypeError("curves['a'] must be numbers"),
    "plot_losses({'a': None})": TypeError("curves['a'] must be numbers, got None"),
    "plot_losses({'a': [1]}, {'floor': inf})": ValueError("lines must be finite to be drawn, got inf"),
    "plot_losses({str(i): [1] for i in range(17)})": ValueError("curves must be at most 16"),
    "draws(plot_losses({str(i): [1, 1] for i in range(16)}))": True,
    "draws(plot_losses({'a': torch.ones(5, dtype=torch.bfloat16, requires_grad=True)}))": True,
    "plot_curves([1, 2], {'a': [1]}, xlabel='', ylabel='')": ValueError("curves['a'] must have 2 points"),
    "plot_curves([0, 1], {'a': [1, 2]}, xlabel='', ylabel='', logarithmic=True)": ValueError("x must be positive"),
    "plot_curves([1], {'a': [1]}, xlabel='', ylabel='', logarithmic='no')": TypeError("logarithmic"),
    "draws(plot_curves([2, 2], {'a': [1, 1], 'b': [1, 1]}, xlabel='', ylabel=''))": True,
    "plot_intervals({'a': {1: (1, nan)}}, xlabel='', ylabel='')": ValueError("curves['a'] must be finite"),
    "plot_intervals({'a': {nan: (1, 1)}}, xlabel='', ylabel='')": ValueError("x values must be finite"),
    "plot_intervals({'a': {-1: (1, 1)}}, xlabel='', ylabel='', spacing='logarithmic')": ValueError("must be positive"),
    "plot_intervals({'a': [1]}, xlabel='', ylabel='')": TypeError("curves['a'] must be a mapping of names"),
    "draws(plot_intervals({'a': {x: (1, 0) for x in range(1000)}}, xlabel='', ylabel=''))": True,
    "draws(plot_intervals({'a': {x: (1, 0) for x in range(100)}}, xlabel='', ylabel='', spacing='even'))": True,
    # comparisons
    "draws(plot_bars({str(i): i for i in range(1000)}, xlabel=''))": True,
    "says(plot_bars({str(i): i for i in range(1000)}, xlabel=''))": "960 more rows, not drawn",
    "plot_chunks({}, 5, 2)": ValueError("rows must have at least one name"),
    "plot_chunks({'a': [0, 5]}, 5, 2)": ValueError("rows['a'] must rise from 0 or more to less than 5"),
    "plot_chunks({'a': [0.5]}, 5, 2)": TypeError("rows['a'] must"),
    "plot_chunks({'a': [0]}, 5, 0)": ValueError("max_length must be"),
    "draws(plot_chunks({LABELS['x']: np.array([0, 100], dtype=np.uint8)[:1]}, 5, np.int8(2)))": True,
    "plot_padding(None)": TypeError("batches must be a mapping"),
    "plot_padding({'a': [[3, 0]]})": ValueError("at least one id each"),
    "plot_padding({'a': [[3, nan]]})": TypeError("batches['a'] must"),
    "draws(plot_padding({LABELS['x']: [np.array([200, 100], dtype=np.uint8)]}, xlabel=LABELS['y']))": True,
    # packs
    "plot_packs({}, [1], 4)": ValueError("packs must have at least one name"),
    "plot_packs({'a': [[0, 2]]}, [1, 1], 4)": ValueError("packs['a'] must hold numbers of the 2 documents"),
    "plot_packs({'a': [[0]]}, [nan], 4)": TypeError("lengths must"),
    "plot_packs({'a': [['0']]}, [1], 4)": TypeError("packs['a'] must"),
    "plot_packs({'a': [[0, 1]]}, np.array([200, 100], dtype=np.uint8), 256)": ValueError("got one of 300"),
    "draws(plot_packs({LABELS['x']: [[0, 1]]}, np.array([200, 100], dtype=np.uint8), np.int16(300)))": True,
    "plot_pieces_of_packs([[3], [0]], 4)": ValueError("packs[1] must be lengths of at least 1"),
    "plot_pieces_of_packs([[3]] * 41, 4)": ValueError("packs must be at most 40, got 41"),
    "plot_pieces_of_packs([[3]], 4, cut=[[None]])": TypeError("cut[0] must be"),
    "draws(plot_pieces_of_packs([[3]], 4, labels=[[LABELS['x']]], names=[LABELS['y']]))": True,
    "plot_mask(None, [0])": TypeError("masks must be True and False"),
    "plot_mask(np.ones((2, 2)), [0])": TypeError("masks must be True and False, got float64"),
    "plot_mask(np.ones((0, 0), dtype=bool), [0])": ValueError("masks must have shape (L, L), got (0, 0)"),
    "plot_mask([[True]], [])": ValueError("document_starts must rise from 0"),
    "plot_mask([[True]], [0.0])": TypeError("document_starts must"),
    "draws(plot_mask({LABELS['x']: torch.ones(3, 3) > 0}, np.array([0, 1], dtype=np.uint8)))": True,
    "plot_positions({'a': []})": ValueError("number of places must be"),
    "plot_positions({'a': [[0, 1]]})": ValueError("positions must all have one shape, (L,)"),
    "plot_positions({'a': range(4097)})": ValueError("number of places must be"),
    "draws(plot_positions({LABELS['x']: torch.arange(3), 'b': np.array([255, 0, 1], dtype=np.uint8)}, [0, 2]))": True,
    "inspect_packs(None, 4)": TypeError("packs must be several packs"),
    "inspect_packs('abc', 4)": TypeError("packs must be several packs, got str"),
    "inspect_packs([{'input_ids': []}], 4)": ValueError("must hold 1 to max_length 4 ids, got 0"),
    "inspect_packs([{'input_ids': [1, nan]}], 4)": TypeError("packs[0].input_ids must"),
    "inspect_packs([{'input_ids': [1], 'document_starts': []}], 4)": ValueError("must rise from 0"),
    "inspect_packs([{'input_ids': [70000]}], 4, eos_token_id=0.0)": TypeError("eos_token_id must be"),
    "draws(inspect_packs([{'input_ids': np.array([70000])}], np.uint8(4), eos_token_id=70000))": True,
    "plot_bars({}, xlabel='')": ValueError("values must have at least one name"),
    "plot_bars({'a': inf}, xlabel='')": ValueError("values must be finite to be drawn, got inf"),
    "plot_bars({'a': None}, xlabel='')": TypeError("values must be numbers"),
    "plot_bars({'a': 1}, xlabel='', logarithmic=True)": ValueError("use plot_dots"),
    "plot_bars({'a': 1}, xlabel='', sort='yes')": TypeError("sort"),
    "plot_bars({'a': 1}, xlabel='', limit=nan)": ValueError("limit must be finite"),
    "draws(plot_bars({'a': 0}, xlabel=''))": True,
    "draws(plot_bars({'a': -1e300, 'b': 1e300}, xlabel=''))": True,
    "plot_dots({'a': 0}, xlabel='', logarithmic=True)": ValueError("values must be positive on a logarithmic axis"),
    "plot_dots({'a': 1}, xlabel='', logarithmic='False')": TypeError("logarithmic"),
    "draws(plot_dots({'a': 1e-100, 'b': 1e100}, xlabel='', logarithmic=True))": True,
    "plot_spread({'a': []}, xlabel='')": ValueError("groups['a'] must have at least one run, got none"),
    "plot_spread({'a': [1, nan]}, xlabel='')": ValueError("groups['a'] must be finite"),
    "plot_spread({}, xlabel='')": ValueError("groups must have at least one name"),
    "plot_spread({'a': {}}, xlabel='')": ValueError("groups must be 1 to 40 rows, got 0"),
    "plot_spread({'a': {'b': [1]}, 'c': [1]}, xlabel='')": TypeError("groups['a'] must be numbers"),
    "plot_spread({str(i): [1] for i in range(41)}, xlabel='')": ValueError("groups must be 1 to 40 rows, got 41"),
    "plot_spread({'a': [1]}, xlabel='', meanings={'b': 'right'})": ValueError("meanings must be for ['a'], got 'b'"),
    "draws(plot_spread({'a': [1, 1], 'b': [1, 1]}, xlabel='', paired=True))": True,
    # heat maps
    "plot_heatmap([[nan]], xlabel='', ylabel='', label='')": ValueError("values must be finite"),
    "plot_heatmap([1, 2], xlabel='', ylabel='', label='')": ValueError("values must have shape (rows, columns)"),
    "plot_heatmap(np.ones((10, 10_000)), xlabel='', ylabel='', label='')": ValueError("at most (200, 2000)"),
    "draws(plot_heatmap([[0]], xlabel='', ylabel='', label=''))": True,
    "draws(plot_heatmap([[-5, 0.5]], xlabel='', ylabel='', label=''))": True,
    # tokens
    "plot_merge_tree([['a', 'b'], ['a', 'c']])": ValueError("stages[1] must hold the symbols of stages[0]"),
    "plot_merge_tree([['a'] * 61])": ValueError("number of symbols must be"),
    "plot_pieces({'a': ['x']}, {'b': ['y']})": ValueError("labels must be for rows of ['a'], got 'b'"),
    "plot_pieces({'a': ['']})": ValueError("rows['a'] must be strings of at least one letter"),
    "plot_pieces({'a': [1]})": ValueError("rows['a'] must be strings of at least one letter"),
    "plot_pieces({'a': ['x' * 121]})": ValueError("at most 120, got 121"),
    "draws(plot_pieces({'a': ['x']}, {'a': ['y' * 10_000]}))": True,
    # machines
    "plot_readers({'a': [nan]}, 4)": TypeError("readers['a'] must"),
    "plot_readers({'a': [70000]}, 4)": ValueError("must lie in 0 ... 3"),
    "plot_readers({'a': [0], 'b': {'c': [1]}}, 4)": TypeError("readers['b'] must"),
    "plot_readers(None, 4)": TypeError("readers must be a mapping"),
    "plot_readers({'a': [0]}, 4.0)": TypeError("num_samples must be"),
    "plot_readers({'a': [0]}, 0)": ValueError("num_samples must be"),
    "draws(plot_readers({LABELS['x']: np.array([1], dtype=np.uint8)}, np.int8(4), lines={LABELS['x']: 1}))": True,
    "plot_timeline({'a': [(0, inf, '')]}, xlabel='')": ValueError("must be finite"),
    "plot_timeline({'a': [(-1, 1, '')]}, xlabel='')": ValueError("begin at 0 or later"),
    "plot_timeline({'a': [('0', 1, '')]}, xlabel='')": TypeError("workers['a'] must be numbers"),
    "plot_timeline({'a': None}, xlabel='')": TypeError("must be several tasks, got None"),
    "plot_timeline({str(i): [(0, 1, '')] for i in range(41)}, xlabel='')": ValueError("number of workers must be"),
    "draws(plot_timeline({LABELS['x']: [(0, np.float32(1e30), LABELS['x'])]}, xlabel=LABELS['x']))": True,
    "plot_waits({}, xlabel='')": ValueError("work must have at least one name"),
    "plot_waits({'a': [[inf]]}, xlabel='')": ValueError("must be finite"),
    "plot_waits({'a': [['1']]}, xlabel='')": TypeError("work['a'] must be numbers"),
    "plot_waits({'a': [[1], [1, 2]]}, xlabel='')": ValueError("regular array"),
    "draws(plot_waits({LABELS['x']: np.array([[200, 100]], dtype=np.uint8)}, xlabel=LABELS['x']))": True,
    # tables
    "Table([[nan, inf, None]], ['a', 'b', 'c']).rows": [["nan", "inf", ""]],
    "Table([[np.int16(30_000), torch.tensor(1.5)]], ['a', 'b']).rows": [["30,000", "1.5"]],
    "Table([['</td><script>']], ['a']).html.count('<script>')": 0,
    "Table([['a\\ud800']], ['a']).rows": [["a?"]],
    "show_table([[1]], ['a', 'b'])": ValueError("rows[0] must have 2 cells"),
    "show_table([[1]] * 1000, ['a'])": ValueError("rows must be at most 200"),
    "show_table([[1]], ['a'], align='left')": ValueError("align must"),
    "show_table([], [])": ValueError("header must name at least one column"),
    "TokenRows({'a': ['</td><script>']}).html.count('<script>')": 0,
    "TokenRows({'a': [b'\\xff', '\\ud800']}).text": "a: 2 tokens  <FF>|U+D800",
    "show_tokens({'a': [1]})": TypeError("tokens must be text or bytes, got 1"),
    "show_tokens({'a': ['x'] * 10_000})": ValueError("tokens in rows must be"),
    "show_tokens(None)": TypeError("rows must be a mapping of names"),
    # shards and orders
    "draws(plot_shards(np.array([1] * 60, dtype=np.uint8), [0, 59], [0, 58], 1))": True,
    "plot_shards([2**62, 2**62], [0])": ValueError("sum of shard_sizes must be"),
    "plot_shards('12', [0])": TypeError("shard_sizes must"),
    "plot_shards([5], [0], [nan], 2)": TypeError("starts must"),
    "plot_shards([5], [0], [0], True)": TypeError("context_length must be"),
    "draws(plot_orders({LABELS['x']: np.array([200, 3], dtype=np.uint8), LABELS['y']: [0]}, size=201))": True,
    "plot_orders({'a': [nan]}, size=3)": TypeError("orders['a'] must"),
    "plot_orders({'a': [-1]}, size=3)": ValueError("orders['a'] must be places"),
    "plot_orders(None, size=3)": TypeError("orders must be a mapping"),
    "plot_orders({'a': [0]}, size=2.5)": TypeError("size must be"),
}
