"""Prompts to use: a box or buttons, where a kernel listens."""

from importlib.util import find_spec

from course_lib.teaching.checker.messages import to_html
from course_lib.teaching.record import kernel_listens

WIDGET = "application/vnd.jupyter.widget-view+json"


def widgets_are_live() -> bool:
    """Say whether what is shown can be used: in a notebook with a kernel and
    `ipywidgets`, unless the environment says `COURSE_WIDGETS=0`."""
    return kernel_listens() and find_spec("ipywidgets") is not None


def make_widget(prompt: object) -> object:
    """Make a `Prompt` to type into, or with a button for each of its choices."""
    # slow to load, and not always there
    from ipywidgets import Box, Button, HTMLMath, Layout, Text, VBox

    row = Layout(flex_flow="row wrap", align_items="center")
    result, narrow = HTMLMath(), Layout(width="auto")

    def show(reply: object) -> None:
        result.value = f'<div role="status">{reply._repr_html_()}</div>'

    def take(text: str) -> None:
        if text != taken[0]:  # a click on the button may follow the box's own event
            taken[0] = text
            show(prompt.guess(text))

    taken = [None]
    if prompt.first_reply:
        show(prompt.first_reply)
    if prompt.choices:
        controls = [Button(description=one, layout=narrow) for one in prompt.labels]
        for button in controls:
            button.on_click(lambda clicked: take(clicked.description))
    else:
        # It tells its text when Enter is pressed or the box is left: a message that
        # comes with Enter alone may overtake the text that was typed last.
        look = {"description_width": "initial"}
        box = Text(
            continuous_update=False,
            style=look,
            description="Your guess:",
            placeholder=prompt.wanted,
        )
        box.observe(lambda change: take(change["new"]), "value")
        button = Button(description="Guess", layout=narrow)

        def go_on(_: object, content: dict, __: object) -> None:
            if content.get("event") == "submit":  # Enter: now Shift+Enter runs cells
                button.focus()

        box.on_msg(go_on)
        button.on_click(lambda _: take(box.value))
        controls = [box, button]
    # It looks like a link, not like one more choice.
    look = {"button_color": "transparent", "text_decoration": "underline"}
    apart = Layout(width="auto", margin="2px 2px 2px 1em")
    link = Button(description="Show the answer", layout=apart, style=look)
    link.on_click(lambda _: show(prompt.reveal()))
    question = HTMLMath(to_html(prompt.question))
    return VBox([question, Box([*controls, link], layout=row), result])
