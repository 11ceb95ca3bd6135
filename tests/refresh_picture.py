"""Photograph lesson 2 for the README, as a reader has it who guessed, played and typed a wrong answer.

    python tests/refresh_picture.py

Needs a browser, as the tests in one do. Look at the picture before you commit it.
"""

import hashlib
import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from PIL import Image

import test_browser
from browser_session import Reader, jupyterlab, missing, open_browser
from kernel_environment import ROOT, kernel_environment

sys.path.insert(0, str(ROOT))  # this checkout, whichever is installed
PICTURE = Path(__file__).resolve().parent.parent / "notebooks" / "images" / "lesson.png"
WIDTH, HEIGHT, SCALE, COLORS = 1080, 1600, 1.5, 96
OTHER = 100  # ids less than in the lesson's question: who sees the picture first has not seen the lesson's answer
SHOWN = ("predict(", "play(draw_windows", "exercises.smallest_stream.check(")
# Nothing is drawn: all other cells, and what surrounds the notebook, are left out.
ONLY = """
(numbers) => lesson.content.widgets.forEach((cell, number) => {
  if (!numbers.includes(number)) cell.node.style.display = "none";
})
"""


def show_other_numbers(notebook: Path) -> None:
    """Ask about another stream than the lesson does: the picture shows the answer."""
    made = nbformat.read(notebook, as_version=4)
    (prompt,) = [cell for cell in made.cells if "predict(" in cell.source and "num_tokens=200" in cell.source]
    prompt.source = re.sub(r"200|19[567]", lambda number: str(int(number[0]) - OTHER), prompt.source)
    nbformat.write(made, notebook)


def sources_shown() -> str:
    """What the picture is of, so that a test finds it too old: a digest of the cells' sources."""
    cells = [cell.source for cell in nbformat.read(test_browser.LESSON, as_version=4).cells if cell.cell_type == "code"]
    shown = [next(source for source in cells if words in source) for words in SHOWN]
    return hashlib.sha256("\n".join(shown).encode()).hexdigest()[:12]


def main() -> int:
    from course_lib.teaching.plots import style  # this checkout's, with all of its settings

    if missing():
        print(missing(), file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with jupyterlab(folder, kernel_environment(folder / "ipython")) as (url, root), open_browser() as browser:
            copy = shutil.copy(test_browser.LESSON, root)
            show_other_numbers(Path(copy))
            size = {"width": WIDTH, "height": HEIGHT}
            lesson = Reader(browser.new_page(viewport=size, device_scale_factor=SCALE), url, root)
            lesson.open(test_browser.LESSON.name)
            lesson.page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")
            test_browser.run_what_is_needed(lesson)
            shown = [
                test_browser.guess(lesson, 200 - OTHER),
                test_browser.play(lesson),
                test_browser.solve_wrongly(lesson),
            ]
            lesson.page.evaluate(ONLY, shown)
            lesson.page.evaluate("() => { lesson.content.deselectAll(); document.activeElement.blur(); }")
            lesson.page.mouse.move(2, 2)
            lesson.cell(shown[0]).evaluate("cell => cell.scrollIntoView({block: 'start'})")
            boxes = [lesson.cell(number).bounding_box() for number in shown]
            frame = {"x": boxes[0]["x"], "y": boxes[0]["y"], "width": boxes[0]["width"]}
            frame["height"] = boxes[-1]["y"] + boxes[-1]["height"] - boxes[0]["y"]
            photo = Image.open(io.BytesIO(lesson.page.screenshot(clip=frame))).convert("RGB")
    info = style.drawn_with(Cells=sources_shown())
    photo.quantize(COLORS, dither=Image.Dither.NONE).save(PICTURE, optimize=True, pnginfo=info)
    print(PICTURE, photo.size, PICTURE.stat().st_size, "bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
