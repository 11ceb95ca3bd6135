"""The site's questions with drawn numbers: those of the notebook, and judged as in the notebook."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from book_site import PHONE, build_site
from course_lib.classroom.book_files import questions
from course_lib.classroom.rendering import READER, as_html
from course_lib.teaching.checker import NumbersQuestion
from course_lib.teaching.checker.messages import PASSED
from course_lib.teaching.guesses.reading import UnreadableError, read_guess
from course_lib.teaching.lessons import find_lessons, items_of
from guess_cases import NONSENSE

# Without a figure, it is soon built.
(LESSON,) = find_lessons(["next_token_shifting"])
PAGE = "notebooks/01_next_token_shifting.html"
DRAWN = [
    item for lesson in find_lessons() for item in items_of(lesson.name).values() if isinstance(item, NumbersQuestion)
]
JUDGE = "([question, variant, texts]) => texts.map((text) => replyTo(question, question.variants[variant], text))"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return build_site(tmp_path_factory.mktemp("book") / "site", [LESSON])


@pytest.fixture
def phone(site, visit) -> object:
    return visit((site / PAGE).as_uri(), **PHONE)


def test_every_lesson_has_some_and_each_has_the_numbers_that_the_notebook_draws():
    assert {lesson.name for lesson in find_lessons() if not questions.section(lesson)} == set()
    for question in DRAWN:
        variants = questions.exported(question)["variants"]
        assert len(variants) == 20
        assert len({variant["task"] for variant in variants}) > 15, question.name
        for seed, variant in enumerate(variants, start=1):
            assert variant["task"] == as_html(question.prose(seed))
            assert variant["answer"] == question.answer(seed)


def told(question: NumbersQuestion, text: str, seed: int) -> list[str]:
    """What the notebook says of an answer that is read as a guess is, as the page writes it."""
    try:
        judgment = question.assess(read_guess(text, question.answer(seed)), seed=seed)
    except UnreadableError as error:
        return ["raised", str(error)]
    if judgment.outcome == PASSED:
        return ["passed", "Right."]
    if judgment.diagnosis is None:
        return ["failed", questions.NO_IDEA]
    return ["failed", READER.renderInline(f"Not this time. **Looks like:** {judgment.diagnosis}")]


def answers_to(question: NumbersQuestion, seed: int) -> Iterator[str]:
    """What a reader may type in digits: right, each known mistake, near them, and anything."""
    answer = question.answer(seed)
    known = [answer, *(mistake.function(**question.drawn(seed)) for mistake in question.mistakes)]
    for value in known:
        for other in (value, value + 1, value - 1, -value, 100 * value, value / 2, 1.004 * value, 1.006 * value):
            yield repr(other)
            yield f"{other:.3g}"
    yield from (f"{answer:,}", f"~{answer}", f"({answer})", f"{answer * 100} %", "0", "3.5")


@pytest.mark.browser
def test_the_page_says_what_the_notebook_says_of_every_answer(phone):
    for question in DRAWN:
        exported = questions.exported(question)
        for seed in random.Random(question.name).sample(questions.SEEDS, 2):
            texts = [*answers_to(question, seed), *(guess for guess in NONSENSE if isinstance(guess, str))]
            for text, said in zip(texts, phone.evaluate(JUDGE, [exported, seed - 1, texts]), strict=True):
                assert said == told(question, text, seed), (question.name, seed, text)


@pytest.mark.browser
def test_a_reader_answers_wrongly_then_rightly_and_asks_for_other_numbers(phone):
    question = next(item for item in DRAWN if item.name == "predictions_of_batch")
    block = phone.locator(".drawn").first
    box, said = block.get_by_label("Your answer"), block.locator(".said")
    assert block.locator(".task").inner_text() == question.prose(1)
    mistake = question.mistakes[0]
    box.fill(str(mistake.function(**question.drawn(1))))
    box.press("Enter")
    assert "Looks like:" in said.inner_text()
    assert mistake.diagnosis[:20] in said.inner_text()
    box.fill("many")
    block.get_by_role("button", name="Check").click()
    wanted = "Please give one number, such as 7 or 0.5 or 1,000, or 64 * 8 or ln 79."
    assert said.inner_text() == f"“many” is not understood. {wanted}"
    box.fill(f"{question.answer(1):,}")
    box.press("Enter")
    assert said.inner_text() == "Right."
    assert said.get_attribute("class") == "said passed"

    others = block.get_by_role("button", name="Other numbers")
    others.click()
    assert block.locator(".task").inner_text() == question.prose(2)
    assert (said.inner_text(), box.input_value()) == ("", "")
    block.get_by_text("Show the answer").click()
    assert block.locator(".answer").inner_text().replace(",", "") == str(question.answer(2))
    for _ in range(19):
        others.click()
    assert block.locator(".task").inner_text() == question.prose(1)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_a_script_the_answer_unfolds_with_how_it_is_computed(site):
    page = (site / PAGE).read_text(encoding="utf-8")
    assert page.count('class="drawn"') == 3
    assert page.count('<form class="reply" autocomplete="off" hidden>') == 3
    solution = re.search(r'<details class="solution">.*?</details>', page, re.DOTALL)[0]
    assert "def</span>" in solution
    assert "predictions_of_batch" in solution
    assert page.index("With other numbers") < page.index('class="drawn"')
