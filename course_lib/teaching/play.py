"""Figures to play with: a picture, and controls that redraw it in a live notebook."""

from collections.abc import Callable

from IPython import get_ipython
from IPython.display import display

from course_lib.foundation import is_switched_off

WIDGET = "application/vnd.jupyter.widget-view+json"
LOOK = {"description_width": "initial"}


def play(draw: Callable[..., object], **controls: object) -> "Player":
    """Show what `draw` makes of the values at the start, and controls that change them.

    Args:
        draw: values by name to a figure, or to anything else that a notebook shows. It
            raises ValueError, with what is wrong in words, for values that do not go
            together.
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
        shown = self.picture._repr_mimebundle_()
        data, metadata = shown if isinstance(shown, tuple) else (shown, {})
        if kernel_listens():
            data[WIDGET] = self.widget()._repr_mimebundle_()[WIDGET]
        return data, metadata

    def widget(self) -> object:
        from ipywidgets import HBox, Layout, VBox, interactive_output

        boxes = {name: _box(name, control) for name, control in self.controls.items()}
        row = HBox(list(boxes.values()), layout=Layout(flex_flow="row wrap"))
        return VBox([row, interactive_output(self.show, boxes)])

    def show(self, **values: object) -> None:
        """Display the picture of some values, or say what is wrong with them."""
        try:
            display(self.draw(**values))
        except ValueError as error:
            print("Not so:", error)


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
    """Whether this is a notebook's kernel, without `COURSE_WIDGETS=0` (or false, no,
    off): sliders and prompts ask here."""
    return hasattr(get_ipython(), "kernel") and not is_switched_off("COURSE_WIDGETS")
