"""Prompts: what Python makes of a question, and what a browser makes of that."""

import ast
import html
import json
import math
import re
from itertools import pairwise
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

import refresh_notebooks
from course_lib.teaching import in_a_row, plot_rows, predict
from course_lib.teaching.predict import asked, kernel_listens, script

LESSONS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


def data_of(shown: str) -> dict:
    return json.loads(html.unescape(re.search(r'data-guess="([^"]*)"', shown)[1]))


def parts_of(*args: object, **options: object) -> list[dict]:
    return data_of(predict(*args, **options)._repr_html_())["parts"]


def test_numbers_of_all_libraries_are_asked_for_as_plain_ones():
    for one, exact in ((3, True), (np.uint16(3), True), (torch.tensor(3), True), (np.float32(3), False)):
        (part,) = parts_of({"windows": one})
        assert part == {"label": "windows", "answer": 3, "choices": None, "within": 0 if exact else 0.01}


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (math.log(79), "4.369"),
        (129_896, "129,896"),
        (301_757.34, "301,757"),
        (0.1 + 0.2, "0.3"),
        (-0.5, "-0.5"),
        (0, "0"),
        (-0.0, "0"),
    ],
)
def test_fractions_have_the_digits_that_are_shown(answer, shown):
    prompt = predict({"loss": answer})
    assert f"loss: <b>{shown}</b>" in prompt._repr_html_()
    assert prompt.parts[0]["answer"] == float(shown.replace(",", ""))


def test_flags_and_choices_are_chosen_from():
    assert parts_of({"shuffled": True, "random": np.False_}) == [
        {"label": "shuffled", "answer": "yes", "choices": ["yes", "no"]},
        {"label": "random", "answer": "no", "choices": ["yes", "no"]},
    ]
    assert parts_of({"curve": "C"}, choices=["A", "B", "C"])[0]["choices"] == ["A", "B", "C"]
    assert parts_of({"bytes": 2}, choices=(2, 1024))[0] == {"label": "bytes", "answer": "2", "choices": ["2", "1,024"]}
    limits = {"less than half": 0.5, "more": math.inf}
    assert [part["answer"] for part in parts_of({"a": 0.49, "b": 0.5}, choices=limits)] == list(limits)


def test_the_first_line_of_the_html_tells_nothing():
    """JupyterLab shows it, if somebody folds the output."""
    first, second, *_ = predict({"curve": "C"}, choices=["A", "C"])._repr_html_().split("\n")
    assert first == " "
    assert "C" in second


def test_an_allowance_is_told_with_the_answer():
    shown = predict({"bytes": 511.9}, within=0.1)._repr_html_()
    assert "<b>511.9</b> (up to 10 % off counts as right)" in shown
    assert data_of(shown)["parts"][0]["within"] == 0.1


@pytest.mark.parametrize(
    ("answers", "options", "words"),
    [
        ("how many?", {}, "answers must be a mapping of labels to answers, got str"),
        ({}, {}, "answers must be 1 to 8, got 0"),
        (dict.fromkeys("abcdefghi", 1), {}, "answers must be 1 to 8, got 9"),
        ({" ": 1}, {}, "answers must have labels of a few words, got ' '"),
        ({3: 1}, {}, "answers must have labels of a few words, got 3"),
        ({"a": "C"}, {}, "answers['a'] must be a finite number, got 'C'"),
        ({"a": "a"}, {"choices": "abc"}, "choices must be several, got 'abc'"),
        ({"a": 3}, {"choices": [3]}, "choices must be 2 to 8 that differ, got ['3']"),
        ({"a": 3}, {"choices": [3, 3]}, "choices must be 2 to 8 that differ"),
        ({"a": 3}, {"choices": range(9)}, "choices must be 2 to 8 that differ"),
        ({"a": 3}, {"choices": [3, " "]}, "choices must not be empty text, got ' '"),
        ({"a": 3}, {"choices": [1, 2]}, "choices must hold the answer, '3', got ['1', '2']"),
        ({"a": True}, {"choices": [1, 2]}, "choices must hold the answer, 'yes', got ['1', '2']"),
        ({"a": 5}, {"choices": {"few": 1, "many": 2}}, "choices must have a place for 5.0"),
        ({"a": 1}, {"choices": {"few": 2, "many": 1}}, "choices must have rising limits, got [2.0, 1.0]"),
        ({"a": 3}, {"within": 0}, "within must be a finite number above 0"),
        ({"a": True}, {"within": 0.1}, "within must be left out where one chooses, got 0.1"),
        ({"a": 7}, {"because": {7: "so"}}, "because must have wrong guesses, but 7 is right"),
        ({"a": 1.0}, {"because": {1.001: "so"}}, "because must have wrong guesses, but 1.001 is right"),
        ({"a": 7, "b": 7}, {"because": {7: "so"}}, "because must have guesses of 2 parts, got 7"),
        ({"a": "A"}, {"choices": ["A", "B"], "because": {"C": "so"}}, "because must have choices as guesses"),
        ({"a": 7, "b": 7}, {"because": {(..., 7): "so"}}, "because must have wrong guesses, but (Ellipsis"),
        ({"a": 7, "b": 7}, {"because": {(..., ...): "so"}}, "because must have wrong guesses"),
    ],
)
def test_a_question_that_nobody_could_answer_is_refused(answers, options, words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        predict(answers, **options)


def test_evidence_is_shown_as_a_notebook_shows_it():
    class Shown:
        def _repr_html_(self) -> str:
            return "<table></table>"

    figure = plot_rows({"ids": in_a_row([1, 2, 3])})
    shown = predict({"a": 1}, Shown(), [1, "<"], "as\nprinted", figure)._repr_html_()
    inside = shown.split("<details>")[1]
    assert "<table></table>\n<pre>[1, &#x27;&lt;&#x27;]</pre>\n<pre>as\nprinted</pre>\n<img alt=" in inside
    assert "measured" not in shown
    measured = predict({"a": 1}, "1.23", measured=True)._repr_html_()
    assert "<!-- measured --><pre>1.23</pre><!-- end -->" in measured


def test_what_other_machines_measure_is_not_compared():
    patterns = (Path(__file__).parent / "sanitize.cfg").read_text(encoding="utf-8")
    found = re.findall(r"regex: (.*)\nreplace: (.*)", patterns)

    def compared(shown: str) -> str:
        for regex, replacement in found:
            shown = re.sub(regex, replacement, shown)
        return shown

    one, other = (predict({"a": 1}, text, measured=True)._repr_html_() for text in ("1.23", "1.24"))
    assert one != other
    assert compared(one) == compared(other)
    assert "<b>1</b>" in compared(one)
    plain = predict({"a": 1}, "1.23")._repr_html_()
    assert compared(plain) == plain
    assert compared('<img src="data:image/png;base64,AA==">') == compared('<img src="data:image/png;base64,AB==">')


def test_another_label_or_answer_is_another_guess_and_other_evidence_is_not():
    first = predict({"windows": 3}, because={2: "One more."}).id
    assert predict({"windows": 3}, "evidence").id == first
    others = predict({"windows": 4}), predict({"tokens": 3}), predict({"windows": 3}, choices=(3, 4))
    assert len({first, *(prompt.id for prompt in others)}) == 4


def test_the_prompts_of_a_kernel_are_known_once_each():
    before = list(asked)
    one, other = predict({"asked once": 1}), predict({"asked twice": 1})
    assert predict({"asked once": 1}).id == one.id
    assert asked == [*before, one.id, other.id]


# Lessons: what stands where, and what gives an answer away.


def is_prompt(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(refresh_notebooks.PROMPT.search(cell.source))


def cells_of(path: Path) -> list[nbformat.NotebookNode]:
    return nbformat.read(path, as_version=4).cells


def first_lines(cell: nbformat.NotebookNode) -> list[str]:
    """What JupyterLab shows of a cell, and of each of its outputs, that somebody has folded: a line."""
    lines = [cell.source.splitlines()[0]]
    for output in cell.outputs:
        data = output.get("data", {})
        text = data.get("text/html", data.get("text/markdown", data.get("text/plain", output.get("text", ""))))
        lines += [line for line in text.splitlines() if line][:1]
    return lines


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_question_is_followed_by_one_folded_cell(path):
    cells = cells_of(path)
    assert sum("**Predict" in cell.source for cell in cells) == sum(map(is_prompt, cells)) >= 4
    for before, cell in pairwise(cells):
        is_asked = before.cell_type == "markdown" and "**Predict" in before.source
        assert is_prompt(cell) == is_asked, cell.source
        if is_asked:
            assert before.source.count("**Predict") == 1, before.source
            assert "\n\n" not in before.source.split("**Predict")[1], "what follows a question is asked already"
        if is_prompt(cell):
            assert cell.source.splitlines()[0] == refresh_notebooks.GUESS_FIRST
            assert cell.metadata == {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["hide-input"]}
            last = ast.parse(cell.source).body[-1]
            assert last.value.func.id == "predict", "a prompt is the last expression of its cell"


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_nothing_that_is_folded_tells_an_answer(path):
    cells = cells_of(path)
    for cell in filter(is_prompt, cells):
        for line in first_lines(cell):
            assert line in (refresh_notebooks.GUESS_FIRST, " "), line
        assert cell.outputs, cell.source
        assert re.fullmatch("Guess first: .*", cell.outputs[-1].data["text/plain"])
        assert [output.output_type for output in cell.outputs] == ["execute_result"], "evidence is returned"
        assert "<script" not in cell.outputs[0].data["text/html"]
    # Nothing else is folded but what prepares a figure, which says nothing of what is asked below it.
    for cell in cells:
        assert not cell.metadata.get("jupyter", {}).get("outputs_hidden")
        if cell.cell_type == "code" and not is_prompt(cell):
            assert not re.search(r"^because\b", cell.source, flags=re.MULTILINE), cell.source


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_prose_below_a_prompt_waits_for_the_guess(path):
    """A figure or a trial may come first; then a fold, or what cannot answer: a heading, the next question, a game."""
    cells = cells_of(path)
    for place in (place for place, cell in enumerate(cells) if is_prompt(cell)):
        prose = next(cell.source for cell in cells[place + 1 :] if cell.cell_type == "markdown")
        assert prose.startswith(('<details class="told"><summary>', "#", "**Predict", "**Play")), prose
        assert prose.count('<details class="told">') == prose.count("\n\n</details>") <= 1, prose


def test_no_two_prompts_of_the_course_share_a_guess():
    shown = [cell.outputs[0].data["text/html"] for path in LESSONS for cell in cells_of(path) if is_prompt(cell)]
    ids = [data_of(one)["id"] for one in shown]
    assert len(set(ids)) == len(ids) > 50


# In a browser.

SCRIPT = (Path(__file__).parent.parent / "course_lib" / "teaching" / "predict.js").read_text(encoding="utf-8")


@pytest.fixture
def opened(visit, tmp_path):
    """Open a page with this body and the script of prompts."""

    def opened(body: str) -> object:
        page = tmp_path / "page.html"
        page.write_text(f'<!doctype html><meta charset="utf-8">{body}<script>{SCRIPT}</script>', encoding="utf-8")
        return visit(page.as_uri())

    return opened


@pytest.fixture
def page_of(opened):
    """Open a page with these prompts, which remembers guesses as long as the test runs."""

    def page_of(*prompts: object) -> object:
        shown = "\n".join(prompt._repr_html_() for prompt in prompts)
        tally = f'<span class="tally" data-guesses="{" ".join(prompt.id for prompt in prompts)}"></span>'
        return opened(shown + tally)

    return page_of


def reload(page: object, shown: object) -> None:
    """Reload until a remembered guess shows, because the browser may store it late."""
    for _ in range(100):
        page.reload()
        if shown.is_visible():
            break
        page.wait_for_timeout(100)


def submit(page: object, **typed: str) -> str:
    for label, text in typed.items():
        page.get_by_label(label).fill(text)
    page.get_by_role("button", name="Guess").click()
    return page.get_by_role("status").inner_text()


@pytest.mark.browser
def test_a_guess_unfolds_the_answer_and_the_first_one_counts(page_of):
    page = page_of(predict({"windows": 196, "last": 195}, [193, 194, 195], because={(197, 196): "No last target."}))
    answer, tally = page.get_by_text("[193, 194, 195]"), page.locator(".tally")
    assert not answer.is_visible()
    assert tally.inner_text() == "0 of 1 right, 1 still to guess"
    said = submit(page, windows="197", last="196")
    wrong = "✘ windows: 197, wrong\n✘ last: 196, wrong"
    assert said == f"Not this time: 0 of 2 right.\n{wrong}\nNo last target."
    assert answer.is_visible()
    assert submit(page, windows="196", last="195") == "✔ Right. (Your first guess counts.)"
    assert tally.inner_text() == "0 of 1 right"
    reload(page, answer)
    assert page.get_by_role("status").inner_text() == said


@pytest.mark.browser
def test_a_guess_unfolds_the_prose_below_it_wherever_it_is_drawn_and_no_other(opened):
    told = '<details class="told"><summary>Read on</summary><p>{}</p></details>'
    shown = [predict({name: 7})._repr_html_() for name in ("first", "second", "third")]
    body = f"{shown[0]}<figure></figure>{told.format('one')}{shown[1]}{shown[2]}{told.format('three')}"
    page = opened(body)
    page.get_by_label("second").fill("7")
    page.get_by_label("second").press("Enter")
    page.get_by_text("second: 7").wait_for()
    assert not page.get_by_text("three").is_visible()
    page.get_by_label("first").fill("8")
    page.get_by_label("first").press("Enter")
    page.get_by_text("one").wait_for()
    page.locator(".told summary").first.click()
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', `{told.format('late')}`)")
    assert not page.get_by_text("one").is_visible()  # who folds it again has it folded
    assert not page.get_by_text("late").is_visible()  # nor is it the first below its prompt
    page.get_by_text("Show the answer").nth(2).click()
    page.get_by_text("three").wait_for()


@pytest.mark.browser
def test_a_fold_stays_closed_while_its_prompt_is_being_run(opened):
    """JupyterLab empties an output before it draws it again; the prompt above has been guessed."""
    told = '<details class="told"><summary>Read on</summary><p>{}</p></details>'
    first, second = (predict({name: 7})._repr_html_() for name in ("first", "second"))
    body = f'{first}{told.format("one")}<div id="output">{second}</div>{told.format("two")}'
    page = opened(body)
    page.get_by_label("first").fill("7")
    page.get_by_label("first").press("Enter")
    page.get_by_text("one").wait_for()
    page.evaluate("document.querySelector('#output').innerHTML = ''")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p>drawn</p>')")
    page.evaluate("() => new Promise((done) => setTimeout(done, 50))")
    assert not page.get_by_text("two").is_visible()


@pytest.mark.browser
def test_saved_outputs_that_were_stripped_are_in_nobodys_way(visit, tmp_path):
    """JupyterLab takes the data from what it does not trust yet."""
    shown = predict({"number": 7})._repr_html_()
    stripped = re.sub(r' data-guess="[^"]*"', "", shown)
    page = tmp_path / "page.html"
    page.write_text(f'{stripped}<span class="tally"></span>{shown}<script>{SCRIPT}</script>', "utf-8")
    assert submit(visit(page.as_uri()), number="7") == "✔ Right."


@pytest.mark.browser
def test_where_a_browser_keeps_nothing_a_guess_lasts_as_long_as_the_page(visit, tmp_path):
    """As in a frame of its own, in which other notebooks than Jupyter's show an output."""
    shown = f"{predict({'number': 7})._repr_html_()}<script>{SCRIPT}</script>"
    page = tmp_path / "page.html"
    page.write_text(f'<iframe sandbox="allow-scripts allow-forms" srcdoc="{html.escape(shown)}"></iframe>', "utf-8")
    frame = visit(page.as_uri()).frame_locator("iframe")
    for typed, said in (("8", "✘ Not this time. You guessed 8."), ("7", "✔ Right. (Your first guess counts.)")):
        frame.get_by_label("number").fill(typed)
        frame.get_by_role("button", name="Guess").click()
        assert frame.get_by_role("status").inner_text() == said


@pytest.mark.browser
@pytest.mark.parametrize(
    ("answer", "typed", "counts"),
    [
        (0.5, "0,5", True),
        (0.5, ".5", True),
        (0.125, "0,125", True),
        (0.5, " 0.5 ", True),
        (0.5, "0.504", True),
        (1000, "1000", True),
        (1, "1,000", False),
        (1000, "1,000", False),
        (1 / 3, "1/3", False),
        (1000, "1e3", False),
        (50, "50 %", False),
        (0, "0", True),
        (0, "", False),
        (-2, "-2", True),
    ],
)
def test_a_number_is_read_or_refused(page_of, answer, typed, counts):
    page = page_of(predict({"number": answer}))
    said = submit(page, number=typed)
    assert page.locator("details").get_attribute("open") == ("" if counts else None)
    wanted = "number: please give digits, with a point for a fraction, such as 1000 or 0.5."
    comma = " Leave out the comma: 1000." if typed == "1,000" else ""
    assert said == ("✔ Right." if counts else f"{wanted}{comma} (Nothing was counted.)")


@pytest.mark.browser
def test_a_share_may_be_given_with_its_sign(page_of):
    assert submit(page_of(predict({"share, in %": 36.9})), share="37 %") == "✔ Right."


@pytest.mark.browser
def test_of_several_choices_each_is_needed_and_the_button_counts(page_of):
    page = page_of(predict({"shuffled": True, "random": False}))
    groups = [page.get_by_role("group", name=name) for name in ("shuffled", "random")]
    groups[0].get_by_label("yes").check()
    assert submit(page) == "random: please choose one. (Nothing was counted.)"
    groups[1].get_by_label("yes").check()
    groups[1].get_by_label("no").check()
    assert submit(page) == "✔ Right."
    assert page.locator(".tally").inner_text() == "1 of 1 right"


@pytest.mark.browser
def test_of_several_parts_each_is_marked_and_gets_its_reasons(page_of):
    because = {(..., 196): "The last one has no target.", (197, ...): "One too many.", (197, 196): "Both."}
    page = page_of(predict({"windows": 196, "last, starts at": 195}, because=because))
    page.get_by_label("windows").fill("196")
    said = submit(page, last="196")
    marks = "✔ windows: 196, right\n✘ last, starts at: 196, wrong"
    assert said == f"Not this time: 1 of 2 right.\n{marks}\nThe last one has no target."
    assert submit(page, windows="7", last="195").endswith("✔ last, starts at: 195, right\n(Your first guess counts.)")
    assert "target. One too many. Both. (Your" in submit(page, windows="197", last="196")
    reload(page, page.get_by_text("Not this time"))  # what was guessed first is marked again
    assert page.get_by_role("status").inner_text() == said


@pytest.mark.browser
def test_a_fraction_where_a_percentage_is_asked_for_is_told_so(page_of):
    page = page_of(predict({"share, in %": 99.4, "windows": 3}), predict({"of them, in %": 40}))
    said = submit(page.locator(".guess").first, share="0.99", windows="3")
    assert said.endswith("\nThat would be right as a fraction, but we asked for a percentage: a half is 50.")
    assert "✘ share, in %: 0.99, wrong\n✔ windows: 3, right" in said
    assert submit(page.locator(".guess").last, of="0.6") == "✘ Not this time. You guessed 0.6."


@pytest.mark.browser
def test_with_the_keyboard_alone_one_guesses_and_hears_what_was_wrong(page_of):
    page = page_of(predict({"shuffled": True, "random": False}))
    page.get_by_role("group", name="shuffled").get_by_label("yes").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    status = page.get_by_role("status")  # a live region, there before the guess: its new text is read aloud
    assert status.inner_text().splitlines()[1:] == ["✔ shuffled: yes, right", "✘ random: yes, wrong"]
    assert page.locator(".guess [role=status]").count() == 1


@pytest.mark.browser
def test_who_unfolds_the_answer_first_has_seen_it(page_of):
    page = page_of(predict({"number": 7}), predict({"other": 8}))
    page.get_by_text("Show the answer").first.click()
    page.get_by_text("number: 7").wait_for()
    page.get_by_label("number").fill("7")
    page.get_by_role("button", name="Guess").first.click()
    assert page.get_by_role("status").first.inner_text() == "✔ Right. (Not counted: you saw the answer.)"
    assert page.locator(".tally").inner_text() == "0 of 2 right, 1 still to guess"


@pytest.mark.browser
def test_keys_that_are_typed_stay_in_the_form(page_of):
    page = page_of(predict({"number": 12}))
    page.evaluate("window.heard = []; addEventListener('keydown', (event) => heard.push(event.key))")
    page.get_by_label("number").press_sequentially("12")
    for key in ("ArrowUp", "ArrowLeft", "Enter"):
        page.get_by_label("number").press(key)
    assert page.get_by_role("status").inner_text() == "✔ Right."  # Enter is a guess
    assert page.evaluate("heard") == []
    page.keyboard.press("Escape")
    page.locator("summary").press("a")
    assert page.evaluate("heard") == ["a"]


def test_without_a_person_no_script_is_shown(monkeypatch):
    shell = type("Shell", (), {"kernel": 1})
    monkeypatch.delenv("COURSE_WIDGETS", raising=False)
    assert script() == ""  # no notebook
    monkeypatch.setitem(kernel_listens.__globals__, "get_ipython", shell)
    assert script() == f"<script>{SCRIPT}</script>"
    for off in ("0", "false", "no", "off", " Off "):  # as sliders and bars take it
        monkeypatch.setenv("COURSE_WIDGETS", off)
        assert script() == ""
