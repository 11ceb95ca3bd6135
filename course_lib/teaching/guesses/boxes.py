"""Prompts to use: a box or buttons, where a kernel listens."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from IPython import get_ipython

from course_lib.teaching.checker import to_html
from course_lib.teaching.guesses.answers import bare, written

if TYPE_CHECKING:
    from course_lib.teaching.guesses.prompts import Prompt, Reply

WIDGETS_VARIABLE = "COURSE_WIDGETS"
WIDGET = "application/vnd.jupyter.widget-view+json"


def widgets_are_live() -> bool:
    """Say whether what is shown can be used: in a notebook with a kernel and
    `ipywidgets`, unless the environment says `COURSE_WIDGETS=0`."""
    asked = os.environ.get(WIDGETS_VARIABLE, "").strip().lower()
    if asked in ("0", "false", "no", "off") or not hasattr(get_ipython(), "kernel"):
        return False
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return False
    return True


def make_widget(prompt: Prompt) -> object:
    """Make a prompt to type into, or with a button for each choice."""
    # slow to load, and not always there
    from ipywidgets import Box, Button, HTMLMath, Layout, Text, VBox

    row = Layout(flex_flow="row wrap", align_items="center")
    question = HTMLMath(to_html(prompt.question))
    result = HTMLMath()

    def show(reply: Reply) -> None:
        result.value = f'<div role="status">{reply._repr_html_()}</div>'

    def take(guess: object) -> None:
        if guess != taken[0]:  # a click on the button may follow the box's own event
            taken[0] = guess
            show(prompt.guess(guess))

    taken = [None]
    if prompt.record.reply:  # the cell is run again
        show(prompt.record.reply)
    # It looks like a link, not like one more choice.
    reveal = Button(
        description="Show the answer",
        layout=Layout(width="auto", margin="2px 2px 2px 1em"),
        style={"button_color": "transparent", "text_decoration": "underline"},
    )
    reveal.on_click(lambda _: show(prompt.reveal()))
    if prompt.choices:
        controls = []
        for choice in map(written, prompt.choices):
            button = Button(description=bare(choice), layout=Layout(width="auto"))
            button.on_click(lambda _, choice=choice: take(choice))
            controls.append(button)
        return VBox([question, Box([*controls, reveal], layout=row), result])
    # It tells its text when Enter is pressed or the box is left. The message that comes
    # with Enter alone may overtake the text that was typed last.
    box = Text(
        description="Your guess:",
        placeholder=prompt.wanted(),
        continuous_update=False,
        style={"description_width": "initial"},
    )
    box.observe(lambda change: take(change["new"]), "value")
    button = Button(description="Guess", layout=Layout(width="auto"))
    button.on_click(lambda _: take(box.value))
    return VBox([question, Box([box, button, reveal], layout=row), result])
