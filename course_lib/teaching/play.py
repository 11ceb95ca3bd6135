"""Figures to play with: a picture, and controls that redraw it in a live notebook."""

import asyncio
import os
from collections.abc import Callable

from IPython import get_ipython

QUIET = 0.05  # seconds without a further value, before a value is drawn
WIDGET = "application/vnd.jupyter.widget-view+json"
LOOK = {"description_width": "initial"}


def play(draw: Callable[..., object], **controls: object) -> "Player":
    """Show what `draw` makes of the values at the start, and controls that change them.

    Args:
        draw: values by name to a figure, or to anything else with a `_repr_mimebundle_`
            for notebooks. It raises ValueError, with what is wrong in words, for values
            that do not go together.
        controls: name to (start, lowest, highest), to a list of choices, the first of
            which is the start, or to a text.
    """
    for name, control in controls.items():
        if isinstance(control, tuple) and len(control) == 3:
            start, low, high = control
            if not low <= start <= high:
                wanted = "(start, lowest, highest)"
                raise ValueError(f"{name} must be {wanted}, got {control}")
        elif not (isinstance(control, str) or (isinstance(control, list) and control)):
            wanted = "(start, lowest, highest), a list of choices or a text"
            raise TypeError(f"{name} must be {wanted}, got {control!r:.60}")
    return Player(draw, controls)


class Player:
    """The picture of the start values, and, where a person works, the controls."""

    def __init__(self, draw: Callable[..., object], controls: dict) -> None:
        self.draw, self.controls = draw, controls
        start = {n: c if isinstance(c, str) else c[0] for n, c in controls.items()}
        self.picture = draw(**start)

    def _repr_mimebundle_(self, **_: object) -> tuple[dict, dict]:
        data, metadata = _bundle(self.picture)
        if kernel_listens():
            data[WIDGET] = self.widget()._repr_mimebundle_()[WIDGET]
        return data, metadata

    def widget(self) -> object:
        from ipywidgets import HBox, Layout, Output, VBox

        boxes = {name: _box(name, control) for name, control in self.controls.items()}
        row = HBox(list(boxes.values()), layout=Layout(flex_flow="row wrap"))
        place = Output()

        def redraw() -> None:
            values = {name: box.value for name, box in boxes.items()}
            place.outputs = (self.output(**values),)

        redraw_last = _last_of_many(redraw)
        for box in boxes.values():
            box.observe(redraw_last, "value")
        redraw()
        return VBox([row, place])

    def output(self, **values: object) -> dict:
        """Return the picture of some values as a notebook's output, or say what is
        wrong with them."""
        try:
            data, metadata = _bundle(self.draw(**values))
        except ValueError as error:
            text = f"Not so: {error}\n"
            return {"output_type": "stream", "name": "stdout", "text": text}
        return {"output_type": "display_data", "data": data, "metadata": metadata}


def _bundle(picture: object) -> tuple[dict, dict]:
    """Return what a notebook shows of a picture, and how it is to be shown."""
    shown = picture._repr_mimebundle_()
    return shown if isinstance(shown, tuple) else (shown, {})


def _last_of_many(act: Callable[[], None]) -> Callable[[object], None]:
    """Let `act` follow the last of many events in a row.

    While one picture is drawn, the values of a slider that moves on queue up. Each is
    told on its own, and would be drawn on its own, seconds later. So each one only puts
    off what the one before has asked for.
    """
    asked: list[asyncio.TimerHandle] = []

    def on_event(_: object) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # nothing can queue up outside of a kernel
            return act()
        while asked:
            asked.pop().cancel()
        asked.append(loop.call_later(QUIET, act))

    return on_event


def _box(name: str, control: object) -> object:
    from ipywidgets import IntSlider, Layout, Text, ToggleButtons

    look = {"description": name, "style": LOOK}
    # Each value on the way would be drawn otherwise, and the last one late.
    late = {"continuous_update": False}
    if isinstance(control, tuple):
        start, low, high = control
        return IntSlider(start, low, high, **look, **late, layout=Layout(width="265px"))
    if isinstance(control, list):
        # JupyterLab takes the arrow keys of a list that opens.
        return ToggleButtons(options=control, **look | {"style": {**LOOK}})
    return Text(control, **look, **late, layout=Layout(width="97%"))


def kernel_listens() -> bool:
    """Whether this is a notebook's kernel, without `COURSE_WIDGETS=0`."""
    asked = os.environ.get("COURSE_WIDGETS", "").strip().lower()
    return asked not in ("0", "false", "no", "off") and hasattr(get_ipython(), "kernel")
