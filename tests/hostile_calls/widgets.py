"""Hostile calls of the figures to play with: wrong start values are refused at once, and nothing a reader can move or
type gives more than a picture or a reason in words.
"""

from tokenizers import Tokenizer, models

from course_lib.teaching.widgets.batches import draw_batches
from course_lib.teaching.widgets.merges import draw_merges
from course_lib.teaching.widgets.packs import draw_packs
from course_lib.teaching.widgets.pipeline import draw_pipeline
from course_lib.teaching.widgets.player import ChoiceControl, IntegerControl, Player, TextControl, numbers_of, stacked
from course_lib.teaching.widgets.tracks import draw_tracks
from course_lib.teaching.widgets.windows import counted, draw_windows

BARE = Tokenizer(models.BPE())


def says(figure):
    return figure.get_supxlabel()


def reason(played, **values):
    """What is told in place of a picture, or nothing."""
    shown = played.show(**values)
    return shown.split("</b> ")[1].removesuffix("</div>") if shown.startswith('<div role="alert"') else ""


CALLS = {
    "play_windows(num_tokens=23.0)": TypeError("num_tokens must be an integer"),
    "play_windows(num_tokens='23')": TypeError("num_tokens must be an integer"),
    "play_windows(num_tokens=True)": TypeError("num_tokens must be an integer"),
    "play_windows(num_tokens=2**63)": ValueError("num_tokens must be an integer of at least 2 and at most 24"),
    "play_windows(num_tokens=25)": ValueError("num_tokens must be an integer of at least 2 and at most 24, got 25"),
    "play_windows(num_tokens=3)": ValueError("a stream of N = 3 ids has no window"),
    "play_tracks(state='kept')": ValueError("state must be one of 'carried', 'reset', got 'kept'"),
    "play_packs('9')": ValueError("document 0 has 9 tokens"),
    "play_pipeline('gpt2')": TypeError("tokenizer must be a tokenizers.Tokenizer, got str"),
    "play_windows(stride=0)": ValueError("stride must be an integer of at least 1"),
    "play_windows(stride=None)": TypeError("stride must be an integer"),
    "play_windows(4, 4)": ValueError("no window of T + 1 = 5"),
    "play_windows(np.int8(23), np.uint8(4), np.int16(2)).start['num_tokens']": 23,
    "reason(play_windows(), stride=np.nan)[-15:]": "got nan (float)",
    "reason(play_windows(), num_tokens=2)": (
        "A stream of N = 2 ids has no window of T + 1 = 5: take a larger N, or a smaller T"
    ),
    "says(draw_windows(2, 1, 1))[:42]": "1 window, 1 prediction; 1 token a target, ",
    "draw_windows(1, 1, 1)": ValueError("no window"),
    "counted(1, 'window')": "1 window",
    "counted(0, 'window')": "0 windows",
    "play_batches(offset=-1)": ValueError("offset must be an integer of at least 0"),
    "play_batches(offset=5)": ValueError("the offset is drawn from 0 to T - 1 = 4"),
    "play_batches(seed=2**70)": ValueError("seed must be"),
    "reason(play_batches(), batch_size=6)[:12]": "After an off",
    "draw_batches(36, 1, 0, 1, 0)": ValueError("35 subsequences are too many for a picture"),
    "play_tracks(state=True)": TypeError("state must be one of 'carried', 'reset', got True (bool)"),
    "play_tracks(state='CARRIED')": ValueError("state must be one of"),
    "play_tracks(num_tokens=60, batch_size=1)": ValueError("too long to be drawn"),
    "draw_tracks(31, 3, 4, 5, 'reset')": ValueError("the offset is drawn from 0 to T = 4, not 5"),
    "reason(play_tracks(), num_steps=12)[:10]": "A row of 9",
    "play_packs([7, 2])": TypeError("lengths must be a str, got list"),
    "play_packs('')": ValueError("lengths must hold at least one whole number"),
    "play_packs('7 -2')": ValueError("lengths must be whole numbers, such as 7 2 5, got '-2'"),
    "play_packs('7 0')": ValueError("document 1 has 0 tokens"),
    "play_packs(strategy=None)": TypeError("strategy must be one of"),
    "draw_packs('9', 8, 'greedy')": ValueError("document 0 has 9 tokens"),
    "reason(play_packs(), lengths='²')": "Lengths must be whole numbers, such as 7 2 5, got '²'".replace("'", "&#x27;"),
    "numbers_of('x', '1,2  3', most=3)": [1, 2, 3],
    "numbers_of('x', '７ ２', most=2)": [7, 2],
    "numbers_of('x', '1 2', most=1)": ValueError("x must hold at most 1 numbers, got 2"),
    "numbers_of('x', '9' * 10, most=1)": ValueError("x must be whole numbers"),
    "play_merges(None)": TypeError("text must be a str, got NoneType"),
    "play_merges(b'abc')": TypeError("text must be a str, got bytes"),
    "play_merges('a' * 161)": ValueError("text must have at most 160 characters, got 161"),
    "play_merges(num_merges=61)": ValueError("num_merges must be"),
    "play_merges('\\ud800')": ValueError("text"),
    "draw_merges(' ', 3)": ValueError("text must be more than spaces"),
    "'<img' in draw_merges('<img src=x> <img', 5).html": False,
    "play_pipeline(None)": TypeError("tokenizer must be a tokenizers.Tokenizer, got NoneType"),
    "play_pipeline(BARE, 3)": TypeError("text must be a str, got int"),
    "'<b>' in draw_pipeline(BARE, '<b>').html": False,
    "Player(draw_windows, {}, num_tokens=1)": TypeError("start values must be those of [], got ['num_tokens']"),
    "Player(draw_windows, {'stride': IntegerControl('S', 1, 2)})": TypeError(
        "start values must be those of ['stride'], got []"
    ),
    "IntegerControl('x', 0, 3).check('x', 4)": ValueError("x must be an integer of at least 0 and at most 3"),
    "IntegerControl('x', 0, 3).check('x', np.uint8(3))": 3,
    "ChoiceControl('x', {'A': 'a'}).check('x', 'A')": ValueError("x must be one of 'a', got 'A'"),
    "ChoiceControl('x', {'A': 'a'}).check('x', nan)": TypeError("x must be one of 'a', got nan"),
    "ChoiceControl('x', {'A': 'a'}).check('x', ['a'])": TypeError("x must be one of 'a', got ['a'] (list)"),
    "IntegerControl('x', 0, 3).check('x', True)": TypeError("x must be an integer"),
    "TextControl('x', 3).check('x', b'abc')": TypeError("x must be a str"),
    "stacked('<b>').html": "<p>&lt;b&gt;</p>",
    "stacked().text": "",
    "TextControl('x', 2).check('x', 'abc')": ValueError("x must have at most 2 characters, got 3"),
    "TextControl('x', 2).check('x', 7)": TypeError("x must be a str, got int"),
}
