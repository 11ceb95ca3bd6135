"""Prompts: what they ask, how they read a guess, what counts, and what a notebook gets to see."""

import json
import sys
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import refresh_notebooks
from course_lib.teaching import predict, record
from course_lib.teaching.checker import NOT_ATTEMPTED
from course_lib.teaching.guesses import WIDGET, boxes, prompts, widgets_are_live
from course_lib.teaching.guesses.prompts import MIME_TYPE, Prompt
from course_lib.teaching.guesses.reading import UnreadableError, read_guess
from guess_cases import JUDGED, NONSENSE, UNREADABLE, WRITTEN


@pytest.fixture(autouse=True)
def new_session(monkeypatch):
    monkeypatch.setattr(prompts, "_replies", {})
    monkeypatch.setattr(record, "_of_this_kernel", {})


def outcome(answer, guess, **options):
    prompts._replies.clear()
    record._of_this_kernel.clear()
    return predict("How many?", answer, **options).guess(guess).outcome


@pytest.mark.parametrize("answer", WRITTEN, ids=str)
def test_a_guess_is_read_however_it_is_written(answer):
    for guess in WRITTEN[answer]:
        assert outcome(answer, guess) == "passed", guess


@pytest.mark.parametrize(("answer", "options", "passed", "failed"), JUDGED)
def test_a_guess_is_right_or_wrong(answer, options, passed, failed):
    for guess in passed:
        assert outcome(answer, guess, **options) == "passed", guess
    for guess in failed:
        assert outcome(answer, guess, **options) == "failed", guess


@pytest.mark.parametrize(("answer", "guess", "options", "words"), UNREADABLE)
def test_what_cannot_be_read_says_what_can(answer, guess, options, words):
    with pytest.raises(UnreadableError, match=words):
        read_guess(guess, answer, **options)


@pytest.mark.parametrize("guess", NONSENSE)
def test_what_cannot_be_read_is_answered_kindly_and_not_counted(guess):
    prompt = predict("How many?", 7)
    reply = prompt.guess(guess)
    assert reply.outcome == "raised"
    assert "not counted" in reply.message
    assert "7**" not in reply.message
    assert record.recorded_outcomes() == {}
    assert prompt.guess("7").outcome == "passed"


def test_the_reply_tells_the_answer_and_what_was_allowed():
    assert str(predict("a", 1234).guess(1234)) == "✔ Right. The answer: 1,234."
    assert str(predict("b", 1234).guess(5)) == "✘ Not this time. The answer: 1,234. You guessed 5."
    reply = predict("c", 2.04321, within=0.1).guess(2)
    assert str(reply) == "✔ Right. The answer: 2.043. You guessed 2. (Up to 10 % off counts as right.)"
    assert "✔" in reply._repr_html_()
    assert str(predict("d", (True, False)).guess("no no")).endswith("The answer: yes, no. You guessed no, no.")
    assert str(predict("f", (1024, 1)).reveal()) == "○ The answer: 1,024; 1."
    assert "12,346." in str(predict("e", 12345.678).guess(1))


def test_a_usual_wrong_guess_is_told_why():
    prompt = predict("How many?", (196, 195), because={(197, 196): "No id is left.", "196 196": "Starts begin at 0."})
    said, late = "✘ Not this time. The answer: 196, 195. You guessed", "Your first guess counts."
    assert str(prompt.guess("197, 196")) == f"{said} 197, 196. No id is left."
    assert str(prompt.guess((196, 196))) == f"{said} 196, 196. Starts begin at 0. {late}"
    assert str(prompt.guess("5 5")) == f"{said} 5, 5. {late}"
    chosen = predict("Which?", "a", choices=("a", "b"), because={"b": "It is shuffled."})
    assert str(chosen.guess("b")).endswith("You guessed b. It is shuffled.")
    near = predict("How much?", 1 / 3, because={1 / 6: "Offset 5 counts, too."})
    assert "Offset 5" in str(near.guess("1/6"))
    assert "Offset 5" not in str(near.guess(0.3))
    for because, words in (({7: "so"}, "but 7 is right"), ({"many": "so"}, "must have guesses")):
        with pytest.raises(ValueError, match=words):
            predict("How many?", 7, because=because)
    again = Prompt.from_data(json.loads(json.dumps(prompt.as_data())))
    assert (again.because, again.answer) == (prompt.because, prompt.answer)


def test_the_first_guess_counts_also_when_the_cell_is_run_again():
    prompt = predict("How many?", 7)
    assert "Your first guess counts" not in prompt.guess(8).message
    again = predict(" How many?", 7)
    reply = again.guess(7)
    assert reply.outcome == "passed"
    assert "Your first guess counts" in reply.message
    assert "✘" in str(again.reveal())
    assert list(record.recorded_outcomes().values()) == ["failed"]


def test_a_guess_after_the_answer_does_not_count():
    prompt = predict("How many?", 7)
    assert str(prompt.reveal()) == "○ The answer: 7."
    assert "Not counted" in prompt.guess(7).message
    assert list(record.recorded_outcomes().values()) == [NOT_ATTEMPTED]


def test_without_a_kernel_the_question_stands_with_its_answer_folded():
    prompt = predict("How many of `T` < 9?", 1234)
    bundle = prompt._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/html", MIME_TYPE]
    assert bundle["text/plain"] == repr(prompt) == "How many of T < 9?\nYour guess: .guess(7)"
    before, folded = bundle["text/html"].split("<details>")
    assert "<code>T</code> &lt; 9?" in before
    assert "1,234" not in before
    assert "<strong>1,234</strong>" in folded


@pytest.mark.parametrize(
    ("answer", "options", "how"),
    [
        (0.1, {}, "Your guess: .guess(0.5)"),
        (True, {}, '"yes", "no": .guess("yes")'),
        ((1, 0.5), {}, "Your guess: .guess((7, 0.5))"),
        ((True, False), {}, "Your guess: .guess((True, True))"),
        ("th", {}, 'Your guess: .guess("...")'),
        ("`b`", {"choices": ("a", "`b`")}, '"a", "b": .guess("a")'),
    ],
)
def test_a_terminal_is_told_how_to_guess(answer, options, how):
    assert repr(predict("?", answer, **options)) == f"?\n{how}"


@pytest.fixture
def live(monkeypatch, tmp_path):
    """A notebook with a kernel that listens, away from the lessons."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COURSE_WIDGETS", raising=False)
    monkeypatch.setattr(record, "get_ipython", lambda: SimpleNamespace(kernel=object()))


def test_widgets_need_a_kernel_and_ipywidgets_and_nobody_who_objects(live, monkeypatch):
    assert widgets_are_live()
    for word in ("0", "no", " OFF"):
        monkeypatch.setenv("COURSE_WIDGETS", word)
        assert not widgets_are_live()
    monkeypatch.setenv("COURSE_WIDGETS", "1")
    assert widgets_are_live()
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert not widgets_are_live()
    assert WIDGET not in predict("?", 7)._repr_mimebundle_()
    monkeypatch.undo()
    assert not widgets_are_live()


def parts(prompt):
    _, row, result = boxes.make_widget(prompt).children
    return {getattr(part, "description", "") or "?": part for part in row.children}, result


def test_a_box_takes_a_guess_and_then_tells_the_answer(live):
    prompt = predict("How many?", 7)
    assert "model_id" in json.dumps(prompt._repr_mimebundle_()[WIDGET])
    controls, result = parts(prompt)
    assert list(controls) == ["Your guess:", "Guess", "Show the answer"]
    assert "7" not in "".join(control.description for control in controls.values()) + result.value
    box = controls["Your guess:"]
    assert not box.continuous_update  # or half of a number would be a guess
    box.value = "many"
    assert "not counted" in result.value
    controls["Guess"].click()
    box.value = "8"
    assert "✘" in result.value
    assert "The answer: <strong>7</strong>" in result.value
    controls["Guess"].click()  # after the box has told its text
    assert "first guess" not in result.value
    assert list(record.recorded_outcomes().values()) == ["failed"]


def test_each_choice_has_a_button(live):
    controls, result = parts(predict("Which?", "`b`", choices=("a", "`b`")))
    assert list(controls) == ["a", "b", "Show the answer"]
    controls["b"].click()
    assert "✔" in result.value
    assert "<code>b</code>" in result.value
    assert list(parts(predict("Is it?", True))[0]) == ["yes", "no", "Show the answer"]


def test_a_button_shows_the_answer_without_a_guess(live):
    prompt = predict("How many?", (7, 3))
    controls, result = parts(prompt)
    assert controls["Your guess:"].placeholder == "2 numbers"
    controls["Show the answer"].click()
    assert "<strong>7, 3</strong>" in result.value
    controls["Your guess:"].value = "7 3"
    assert "Not counted" in result.value
    assert list(record.recorded_outcomes().values()) == [NOT_ATTEMPTED]
    # The cell is run again: the answer is known.
    assert "<strong>7, 3</strong>" in parts(predict("How many?", (7, 3)))[1].value


def test_a_notebook_in_normal_form_shows_prompts_and_holds_no_widgets():
    prompt = new_code_cell("predict('How many?', n)")
    bundle = {"text/plain": "How many?", WIDGET: {"model_id": "5", "version_major": 2, "version_minor": 0}}
    prompt.outputs = [
        new_output("execute_result", bundle, execution_count=1),
        new_output("display_data", {WIDGET: {"model_id": "6", "version_major": 2, "version_minor": 0}}),
    ]
    text = refresh_notebooks.normalize(new_notebook(cells=[new_markdown_cell("# 1. A lesson"), prompt]))
    *_, asking = nbformat.reads(text, as_version=4).cells
    assert [output.data for output in asking.outputs] == [{"text/plain": "How many?"}]
