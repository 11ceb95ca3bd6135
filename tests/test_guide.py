"""The guide for teachers agrees with the lessons that it is about."""

import re
from pathlib import Path

import pytest

from course_lib.teaching.checker import Question
from course_lib.teaching.lessons import Lesson, exercise_of, find_lessons, items_of

ROOT = Path(__file__).parent.parent
PARTS = ("TEACHING.md", "TEACHING_BY_LESSON.md")
GUIDE = "\n".join((ROOT / "notebooks" / name).read_text(encoding="utf-8") for name in PARTS)
README = (ROOT / "README.md").read_text(encoding="utf-8")
LESSONS = find_lessons()


def section(lesson: Lesson) -> str:
    begin = GUIDE.index(f"\n## {lesson.number}. ")
    end = GUIDE.find("\n## ", begin + 1)
    return GUIDE[begin:end] if end > 0 else GUIDE[begin:]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_its_section_with_the_minutes_that_it_states(lesson):
    own = section(lesson)
    assert own.startswith(f"\n## {lesson.number}. {lesson.title}\n")
    (header,) = (cell.source for cell in lesson.notebook.cells if "**You will learn**" in cell.source)
    core, everything = re.findall(r"\d+", header.split("**Time**")[1])[:2]
    time = f"**Time**: {core} minutes, or {everything} with the optional parts."
    assert f"[The lesson]({lesson.path.name}). {time}" in own
    assert re.search(rf"{re.escape(lesson.path.name)}\).*\| {core} \| {everything} \|\n", README)
    for part in ("**Leave out first**", "**On the board**", "**Where students stumble**", "**To discuss**"):
        assert part in own


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_sections_that_may_be_left_out_are_there(lesson):
    wanted = re.findall(r"section\s+(\d+)\s+\(([^)]+)\)", section(lesson).split("**On the board**")[0])
    assert wanted
    prose = "\n".join(cell.source for cell in lesson.notebook.cells if cell.cell_type == "markdown")
    there = {}
    for number, title in re.findall(r"^## (\d+)\. (.+)$", prose.replace("`", ""), flags=re.MULTILINE):
        there[number] = re.sub(r"\s*\(\*optional\*\)|\*Optional\*:\s*", "", title).lower()
    for number, title in wanted:
        assert there.get(number) == " ".join(title.split()).lower(), title


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_students_stumble_over_every_exercise_and_are_asked_something(lesson):
    cells = [cell for cell in lesson.notebook.cells if exercise_of(cell)]
    written = [exercise_of(cell) for cell in cells if cell.source.startswith(("def ", "class "))]
    stumble = section(lesson).split("**Where students stumble**")[1].split("**To discuss**")[0]
    bullets = re.findall(r"^- `(\w+)`:(.*?)(?=^- |\Z)", stumble, flags=re.MULTILINE | re.DOTALL)
    assert [name for name, _ in bullets] == written
    for name, words in bullets:
        assert re.search(r"\*Ask\*:.*\?", words, flags=re.DOTALL), name


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_questions_to_discuss_have_answers(lesson):
    discuss = section(lesson).split("**To discuss**")[1]
    questions = re.findall(r"^\d\. \*(.+?)\*(.*?)(?=^\d\. |\Z)", discuss, flags=re.MULTILINE | re.DOTALL)
    assert len(questions) >= 3
    for question, reply in questions:
        assert len(reply.split()) >= 8, question


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_guide_tells_the_verdicts(lesson):
    questions = [item for item in items_of(lesson.name).values() if isinstance(item, Question)]
    told = dict(re.findall(r"`(\w+)` is (a bug|not a bug|true|false)", " ".join(section(lesson).split())))
    assert told == {one.name: {"bug": "a bug"}.get(one.truth, one.truth) for one in questions}


def test_names_in_code_are_there():
    """Every name like `this_one` occurs in the package or in a notebook."""
    cells = [cell.source for lesson in LESSONS for cell in lesson.notebook.cells]
    package = [path.read_text(encoding="utf-8") for path in ROOT.glob("course_lib/**/*.py")]
    words = set(re.findall(r"\w+", "\n".join(cells + package)))
    names = set(re.findall(r"`\.?([A-Za-z]\w+)(?:\(.*?\))?`", GUIDE))
    assert len(names) > 80
    assert not names - words


def test_the_plans_name_lessons_and_exercises_in_their_place():
    known = {name for lesson in LESSONS for cell in lesson.notebook.cells if (name := exercise_of(cell))}
    tables = re.findall(r"\| session \|.*?(?=\n\n)", GUIDE, flags=re.DOTALL)
    assert len(tables) == 2
    for name in re.findall(r"`(\w+)`", "".join(tables)):
        assert name in known, name
    minutes = [
        int(m) for m in re.findall(r"^\| (\d+) \|", GUIDE.split("## Ninety minutes")[1].split("## Five")[0], re.M)
    ]
    assert minutes == sorted(minutes)
    assert minutes[-1] < 90


def test_the_readme_says_which_lessons_do_not_read_the_story():
    told = re.search(r"Lessons ([\d, and]+?) don't\s+read the story", README)[1]
    reads = {
        lesson.number: any(cell.cell_type == "code" and "load_text()" in cell.source for cell in lesson.notebook.cells)
        for lesson in LESSONS
    }
    assert re.findall(r"\d+", told) == [str(number) for number, story in reads.items() if not story]
    assert sum(reads.values()) == 10
    assert "replaces the story, so in ten of the lessons" in GUIDE
