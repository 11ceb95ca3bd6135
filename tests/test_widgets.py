"""Figures to play with: what they draw, what they say where nothing can be drawn, and what stands in their place where
nobody can play.
"""

import base64
import copy
import io
import itertools
import re

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image
from tokenizers import Tokenizer, models

from course_lib.foundation import load_documents
from course_lib.teaching import play_batches, play_merges, play_packs, play_pipeline, play_tracks, play_windows
from course_lib.teaching.plots.style import LessonFigure
from course_lib.teaching.predict import kernel_listens
from course_lib.teaching.widgets import batches, merges, packs, pipeline, player, tracks, windows
from course_lib.teaching.widgets.player import WIDGET, ChoiceControl, Html, IntegerControl, Player
from course_lib.tokenizer_pipeline import build_tokenizer

FIGURES = {
    "windows": play_windows,
    "batches": play_batches,
    "tracks": play_tracks,
    "packs": play_packs,
    "merges": play_merges,
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    texts = [document.text for document in load_documents() if document.kind in ("story", "dialogue")]
    return build_tokenizer(texts, vocab_size=600, progress=False)


@pytest.fixture(scope="module")
def figures(tokenizer) -> dict[str, Player]:
    return {name: play() for name, play in FIGURES.items()} | {"pipeline": play_pipeline(tokenizer)}


@pytest.fixture(params=[*FIGURES, "pipeline"])
def played(request, figures) -> Player:
    return copy.copy(figures[request.param])  # without a widget yet


@pytest.fixture(autouse=True)
def quick(monkeypatch, request):
    """Pictures by what is written into them, which takes no time; one test draws them."""
    if "drawn" not in request.fixturenames:
        written = lambda figure: repr([text.get_text() for text in figure.findobj(Text)]).encode()
        monkeypatch.setattr(LessonFigure, "png", written)


@pytest.fixture
def drawn():
    """For a test whose pictures are drawn."""


@pytest.fixture
def in_a_live_notebook(monkeypatch):
    monkeypatch.setattr(player, "kernel_listens", lambda: True)


def is_told(shown: str) -> bool:
    return shown.startswith('<div role="alert"')


def says(figure: LessonFigure) -> str:
    return figure.get_supxlabel()


def test_without_a_kernel_one_picture_stands_in_its_place_and_tells_what_could_be_moved(played):
    data, _ = played._repr_mimebundle_()
    form = "text/html" if isinstance(played._picture, Html) else "image/png"
    assert set(data) == {form, "text/plain"}
    for control in played.controls.values():
        assert control.label in data["text/plain"]
    if form == "image/png":
        assert played.invitation in base64.b64decode(data[form]).decode()
    else:
        # nbval compares HTML, and a picture depends on a machine's fonts
        assert "<img" not in data[form]
        assert played.invitation in data[form]


@pytest.mark.usefixtures("drawn")
def test_in_a_live_notebook_the_picture_is_drawn_at_twice_its_size_too():
    tag = play_windows().show()
    (encoded,) = re.findall(r'src="data:image/png;base64,([^"]+)"', tag)
    with Image.open(io.BytesIO(base64.b64decode(encoded))) as image:
        sizes = [int(number) for number in re.findall(r' (?:width|height)="(\d+)"', tag)]
        assert image.size == (2 * sizes[0], 2 * sizes[1])
    assert 'alt="10 windows, 40 predictions' in tag


def test_two_times_the_same(played):
    again = Player(played.draw, played.controls, **played.start)
    assert again._repr_mimebundle_() == played._repr_mimebundle_()
    assert again.show() == played.show()


@pytest.mark.parametrize("value", ["0"])
def test_the_environment_switches_controls_off(played, monkeypatch, value):
    monkeypatch.setitem(kernel_listens.__globals__, "get_ipython", lambda: type("Shell", (), {"kernel": 1}))
    monkeypatch.setenv("COURSE_WIDGETS", value)
    assert WIDGET not in played._repr_mimebundle_()[0]
    assert "widget" not in vars(played)
    monkeypatch.setenv("COURSE_WIDGETS", "1")
    assert WIDGET in played._repr_mimebundle_()[0]


@pytest.mark.usefixtures("in_a_live_notebook")
def test_in_a_live_notebook_the_controls_come_with_it(played):
    data, _ = played._repr_mimebundle_()
    assert data[WIDGET]["model_id"] == played.widget.model_id
    assert played._repr_mimebundle_()[0][WIDGET] == data[WIDGET]  # shown twice, it is the same
    controls, picture = played.widget.children
    assert [box.description for box in controls.children] == [c.label for c in played.controls.values()]
    assert all(box.description for box in controls.children)
    assert {name: box.value for name, box in zip(played.controls, controls.children, strict=True)} == played.start
    assert not any(getattr(box, "continuous_update", False) for box in controls.children)
    assert picture.value == played.show()
    assert "Run this cell" not in picture.value


def test_each_control_changes_the_picture(played):
    at_start = played.show()
    for name, control in played.controls.items():
        old = played.start[name]
        if isinstance(control, IntegerControl):
            others = [value for value in (old - 1, old + 1, old - 2) if control.low <= value <= control.high]
        elif isinstance(control, ChoiceControl):
            others = [value for value in control.options.values() if value != old]
        else:
            others = ["3 3 1" if "lengths" in played.controls else "one and one and one"]
        shown = (played.show(**{name: value}) for value in others)
        assert any(not is_told(one) and one != at_start for one in shown), name


@pytest.mark.parametrize("name", ["windows", "merges"])
def test_a_control_that_is_moved_draws_another_picture(name):
    played = play_windows() if name == "windows" else play_merges()
    controls, picture = played.widget.children
    at_start = picture.value
    control, values = controls.children[1], []
    picture.observe(lambda change: values.append(change.new), names="value")
    control.value += 1
    assert picture.value != at_start
    # While a picture is drawn, the one before, which is still to be seen, is pale.
    assert values == [f'<div style="opacity: 0.4">{at_start}</div>', picture.value]
    control.value -= 1
    assert picture.value == at_start


def test_ends_are_drawn_or_told_in_words(played):
    """The ends of two neighbors, and of all: a picture, or a reason that does not come from somewhere deep below."""
    ends = {name: [c.low, c.high] for name, c in played.controls.items() if isinstance(c, IntegerControl)}
    pairs = [{one: a, other: b} for one, other in itertools.pairwise(ends) for a in ends[one] for b in ends[other]]
    all_low, all_high = ({name: two[end] for name, two in ends.items()} for end in (0, 1))
    for values in [all_low, all_high, *pairs]:
        picture = drawn_or_told(played, values)
        if isinstance(picture, LessonFigure):
            assert picture.get_size_inches()[1] <= 9.5  # inches: it fits on a screen
        else:
            assert isinstance(picture, Html) or len(picture) < 200, picture


def drawn_or_told(played: Player, values: dict) -> LessonFigure | Html | str:
    try:
        return played.draw(**played.start | values)
    except ValueError as error:
        return str(error)


def test_what_is_wrong_is_told_in_words_in_place_of_the_picture(played, monkeypatch):
    for name in played.controls:
        assert is_told(played.show(**{name: None}))

    def fails(**_):
        raise RuntimeError("something <deep> below")

    monkeypatch.setattr(played, "draw", fails)
    assert "RuntimeError: something &lt;deep&gt; below" in played.show()


def test_a_text_may_be_anything(tokenizer):
    texts = ["漢字 😀", "<b>bold</b> & $x$ \\", "<|endoftext|>", "\x00\u200d", "'\"" * 40, "a" * 160]
    for one in (play_pipeline(tokenizer), play_merges()):
        for text in texts:
            shown = one.show(text=text)
            assert not is_told(shown), text
            assert "<b>bold" not in shown
            assert "$x$" not in shown
    assert not is_told(play_pipeline(tokenizer).show(text=""))


def test_windows_are_those_of_the_lesson():
    figure = windows.draw_windows(23, 4, 2)
    assert says(figure) == (
        "10 windows, 40 predictions; 22 tokens a target, each 1.82 times on average; 1 never a target"
    )
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()][1:] == [
        f"start {start}" for start in range(0, 20, 2)
    ]
    assert "1 window, 4 predictions; 4 tokens a target, each 1.00 times" in says(windows.draw_windows(5, 4, 16))
    above, below = figure.axes
    np.testing.assert_allclose(np.array(above.get_xlim()) - 0.5, below.get_xlim())


def test_batches_are_those_of_random_sampling():
    figure = batches.draw_batches(33, 5, 4, 2, seed=0)
    assert says(figure).startswith("5 subsequences, shuffled: 2 batches of 2, and 1 left over")
    starts = [label.get_text() for label in figure.axes[0].get_yticklabels()][1:]
    assert [name.split(",")[0] for name in starts] == ["batch 0", "batch 0", "batch 1", "batch 1"]
    assert {int(name.split()[-1]) for name in starts} < {4, 9, 14, 19, 24}
    other = batches.draw_batches(33, 5, 4, 2, seed=1)
    assert starts != [label.get_text() for label in other.axes[0].get_yticklabels()][1:]


def test_tracks_tell_what_the_state_holds():
    assert "2 batches of 3 rows" in says(tracks.draw_tracks(31, 3, 4, 1, "carried"))
    assert "with 4 ids of its row" in says(tracks.draw_tracks(31, 3, 4, 1, "carried"))
    assert "with 0 ids of its row" in says(tracks.draw_tracks(31, 3, 4, 1, "reset"))
    keys = [t.get_text() for t in tracks.draw_tracks(31, 3, 4, 1, "reset").legends[0].get_texts()]
    assert "the state is reset" in keys
    one = [t.get_text() for t in tracks.draw_tracks(16, 3, 4, 1, "carried").legends[0].get_texts()]
    assert "the state goes on" not in one  # a single batch: there is nothing to go on from


def test_packs_are_those_of_the_strategies_and_merges_are_learned_one_after_another():
    assert says(packs.draw_packs("7 2 5 3 1 6 4 2 5 3", 8, "best_fit")).startswith("5 rows in place of 10")
    assert says(packs.draw_packs("7 2 5 3 1 6 4 2 5 3", 8, "greedy")).startswith("6 rows in place of 10")
    assert "at most 24" in play_packs().show(lengths="1 " * 30)
    three = merges.draw_merges("the theme of these thirty-three threads", 3).text
    assert re.search(r"1 +t \+ h +6 +th +256\n +2 +Ġ \+ th +4 +Ġth +257\n +3 +r \+ e +2 +re +258", three)
    assert "after 3 merges: 27 tokens" in three
    assert "merge " not in merges.draw_merges("the theme", 0).text
    assert "No more than 1 merge: no pair occurs twice." in merges.draw_merges("abab", 60).text


def test_the_pipeline_tells_every_stage_of_a_bare_model_too(tokenizer):
    text = pipeline.draw_pipeline(tokenizer, "the  sea é").text
    assert re.search(r"text +the␣␣sea␣é\nnormalized +the␣sea␣é\n3 pieces +the\|␣sea\|␣é\n", text)
    assert re.search(r"<\|endoftext\|> +0 +special: a name, no text", text)
    assert re.search(r"the +\d+ +74 68 65 +merge \d+: (t \+ he|th \+ e)", text)
    assert "Decoded, it is the normalized text again." in text
    bare = Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=[("a", "b")]))
    text = pipeline.draw_pipeline(bare, "aab").text
    assert re.search(r"1 piece +aab\n2 tokens +a\|ab\n", text)
    assert "merge 1: a + b" in text
    assert "Decoded, it is another text: a␣ab" in text
