"""Figures to play with: a picture, and controls that redraw it. Where no kernel is at
work, as on a slide, only the picture of the start values is shown. A book holds the
pictures of a few more."""

import base64
import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from matplotlib import style

from course_lib.foundation import check_choice, check_integer, check_type
from course_lib.teaching.plots.style import RULES, LessonFigure, add_remark
from course_lib.teaching.plots.tables import Table, plain
from course_lib.teaching.plots.tokenizations import TokenRows
from course_lib.teaching.predict import kernel_listens

WIDGET = "application/vnd.jupyter.widget-view+json"
LOOK = {"description_width": "initial"}
INVITATION = "Run this cell in JupyterLab to play with {}."


@dataclass(frozen=True)
class Html:
    """A picture of letters: what a notebook shows, and the same for a terminal."""

    html: str
    text: str


Picture = LessonFigure | Html


def stacked(*parts: Table | TokenRows | str) -> Html:
    forms = [Html(f"<p>{plain(p)}</p>", p) if isinstance(p, str) else p for p in parts]
    text = "\n\n".join(form.text for form in forms)
    return Html("\n".join(form.html for form in forms), text)


@dataclass(frozen=True)
class IntegerControl:
    """A slider for whole numbers, its ends included; a book offers only a few."""

    label: str
    low: int
    high: int
    few: Sequence[int] = ()

    def check(self, name: str, value: object) -> int:
        return check_integer(name, value, minimum=self.low, maximum=self.high)

    def offered(self, start: int) -> dict[str, int]:
        few = self.few or range(self.low, self.high + 1)
        return {str(value): value for value in sorted({*few, start})}

    def make(self, value: int) -> object:
        from ipywidgets import IntSlider

        # Each value on the way would be drawn otherwise, and the last one late.
        return IntSlider(
            value=value,
            description=self.label,
            min=self.low,
            max=self.high,
            continuous_update=False,
            style=LOOK,
            layout={"width": "265px"},
        )


@dataclass(frozen=True)
class ChoiceControl:
    """Buttons, one of them pressed: what each says, and the value that it stands for.
    JupyterLab takes the arrow keys of a list that opens, to go to the next cell."""

    label: str
    options: dict[str, str]

    def check(self, name: str, value: object) -> str:
        return check_choice(name, value, self.options.values())

    def offered(self, _: str) -> dict[str, str]:
        return self.options

    def make(self, value: str) -> object:
        from ipywidgets import ToggleButtons

        what = {"description": self.label, "options": list(self.options.items())}
        return ToggleButtons(value=value, style=LOOK | {"button_width": "auto"}, **what)


@dataclass(frozen=True)
class TextControl:
    """A box for a text of one line; Enter, or leaving it, draws it. A book has no box,
    and offers a few texts."""

    label: str
    longest: int
    few: Sequence[str] = ()

    def check(self, name: str, value: object) -> str:
        length = len(check_type(name, value, str))
        if length > self.longest:
            most = f"at most {self.longest} characters"
            raise ValueError(f"{name} must have {most}, got {length}")
        return value

    def offered(self, start: str) -> dict[str, str]:
        return {text: text for text in (start, *self.few)}

    def make(self, value: str) -> object:
        from ipywidgets import Text

        when = {"continuous_update": False, "placeholder": "a text of your own"}
        return Text(
            value=value,
            description=self.label,
            **when,
            style=LOOK,
            layout={"width": "97%"},
        )


Control = IntegerControl | ChoiceControl | TextControl


class Player:
    """A picture, and below it, in a live notebook, the controls that change it.

    Args:
        draw: values by name to a picture. It raises `ValueError`, with what is wrong in
            words, for values that do not go together.
        controls: name to control, in the order in which they are shown.
        start: the values at the beginning, one for each control.
    """

    def __init__(
        self, draw: Callable[..., Picture], controls: dict[str, Control], **start
    ) -> None:
        self.draw, self.controls = draw, controls
        if start.keys() != controls.keys():
            raise TypeError(
                f"start values must be those of {list(controls)}, got {list(start)}"
            )
        self.start = start
        self.start = self._checked({})
        self._picture = draw(**self.start)

    def _checked(self, values: dict[str, object]) -> dict[str, object]:
        given = self.start | values
        return {
            name: own.check(name, given[name]) for name, own in self.controls.items()
        }

    @property
    def invitation(self) -> str:
        """What is said below the picture where nothing can be moved."""
        labels = [control.label for control in self.controls.values()]
        return INVITATION.format(", ".join(labels))

    def drawn(self, **values: object) -> Picture | str:
        """Draw the picture of some values, the others as at the start, or say in words
        what is wrong with them."""
        try:
            return self.draw(**self._checked(values))
        except (TypeError, ValueError) as error:
            reason = str(error)
        except Exception as error:  # a reader's text may do anything to a library
            reason = f"{type(error).__name__}: {error}"
        return reason[:1].upper() + reason[1:]

    def show(self, **values: object) -> str:
        """The same, as HTML."""
        picture = self.drawn(**values)
        return _in_words(picture) if isinstance(picture, str) else _in_html(picture)

    @property
    def offered(self) -> dict[str, dict[str, object]]:
        """What a book offers for each control: words to values."""
        return {n: own.offered(self.start[n]) for n, own in self.controls.items()}

    def settings(self) -> Iterator[dict[str, object]]:
        """All that a book offers; the last control changes first."""
        for values in product(*(few.values() for few in self.offered.values())):
            yield dict(zip(self.controls, values, strict=True))

    @cached_property
    def widget(self) -> object:
        """The controls and the picture, made when they are first wanted."""
        from ipywidgets import HTML, HBox, VBox

        row = {"flex_flow": "row wrap"}
        boxes = {n: own.make(self.start[n]) for n, own in self.controls.items()}
        picture = HTML(_in_html(self._picture), layout={"width": "auto"})

        def redraw(_: object) -> None:
            # Pale until the new one is there: it belongs to values that are gone.
            picture.value = f'<div style="opacity: 0.4">{picture.value}</div>'
            picture.value = self.show(**{n: box.value for n, box in boxes.items()})

        # A key that is held down draws the first value and the last: a browser sends
        # none while another is being drawn.
        for box in boxes.values():
            box.observe(redraw, names="value")
        return VBox([HBox(list(boxes.values()), layout=row), picture])

    def _repr_mimebundle_(self, **_: object) -> tuple[dict, dict]:
        data, metadata = self._still()
        if kernel_listens():
            view = {"version_major": 2, "version_minor": 0}
            data[WIDGET] = view | {"model_id": self.widget.model_id}
        return data, metadata

    def _still(self) -> tuple[dict, dict]:
        """The picture of the start values, and what could be done with it, in one form
        alone: some pages show all that they are given."""
        if isinstance(self._picture, Html):
            words = f"<p><em>{html.escape(self.invitation)}</em></p>"
            text = f"{self._picture.text}\n\n{self.invitation}"
            return {"text/html": self._picture.html + words, "text/plain": text}, {}
        remark = self._picture.get_supxlabel()
        said = "\n".join(filter(None, [remark, self.invitation]))
        with style.context(["default", RULES]):
            add_remark(self._picture, said)
            data, metadata = self._picture._repr_mimebundle_()
            add_remark(self._picture, remark)
        return data | {"text/plain": said}, metadata


def _in_html(picture: Picture) -> str:
    if isinstance(picture, Html):
        # JupyterLab's own rules for tables reach no widget without this class
        return f'<div class="jp-RenderedHTMLCommon">{picture.html}</div>'
    encoded = base64.b64encode(picture.png()).decode("ascii")
    width, height = picture.shown_size
    said = html.escape(picture.get_supxlabel())
    return (
        f'<img src="data:image/png;base64,{encoded}" alt="{said}" width="{width}" '
        f'height="{height}" style="max-width: 100%; height: auto">'
    )


def _in_words(reason: str) -> str:
    edge = "border-left: 4px solid #8b1c8f; padding: 0.6em 1em; margin: 1em 0"
    words = html.escape(reason)
    return f'<div role="alert" style="{edge}"><b>Not so.</b> {words}</div>'


def numbers_of(name: str, text: str, *, most: int) -> list[int]:
    """Read whole numbers from a text, with spaces or commas between them."""
    words = text.replace(",", " ").split()
    if not words:
        raise ValueError(f"{name} must hold at least one whole number, got none")
    if len(words) > most:
        raise ValueError(f"{name} must hold at most {most} numbers, got {len(words)}")
    for word in words:
        if not (word.isdecimal() and len(word) <= 9):
            wanted = "whole numbers, such as 7 2 5"
            raise ValueError(f"{name} must be {wanted}, got {word!r:.30}")
    return [int(word) for word in words]
