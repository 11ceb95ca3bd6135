"""JupyterLab and a browser for tests, away from personal settings.

The browser is one that is installed (Chromium or Chrome; the variable COURSE_BROWSER names another). Nothing is
downloaded, and it sees no address but this machine's.
"""

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
FLAGS = [
    "--no-sandbox",  # a sandbox cannot be made by root, as which most containers run
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
WIDTH, HEIGHT = 1300, 900
PATIENCE = 600  # seconds: a busy machine is no failure


def find_browser() -> str | None:
    """Name the program, if there is one."""
    wanted = os.environ.get("COURSE_BROWSER")
    return shutil.which(wanted) if wanted else next(filter(None, map(shutil.which, NAMES)), None)


def missing() -> str:
    """Say what a test in a browser lacks here; nothing if it can run."""
    if importlib.util.find_spec("playwright") is None:
        return 'playwright is not installed: pip install --editable ".[test]"'
    if find_browser() is None:
        return f"there is no browser: none of {', '.join(NAMES)}, and COURSE_BROWSER names none"
    return ""


@contextmanager
def open_browser() -> Iterator[object]:
    """Start the browser, and close it at the end: playwright's object, whose `new_page` opens a page."""
    from playwright.sync_api import sync_playwright  # it need not be installed

    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=find_browser(), args=FLAGS) as browser,
    ):
        yield browser


# What readers have: no extension but those that the course's own dependencies bring.
EXTENSIONS_OF_OTHERS = (
    "jupyterlab-jupytext",
    "jupyterlab-rise",
    "@jupyter-notebook/lab-extension",
    "@jupyterlab/mathjax3-extension",
    "@jupyter/nbgrader",
)
SETTINGS = {
    # No question whether news may be fetched, and none fetched.
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    # Cells that are not in sight are there all the same, to be measured.
    "notebook-extension/tracker": {"windowingMode": "none"},
}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def jupyterlab(folder: Path, environment: dict[str, str]) -> Iterator[tuple[str, Path]]:
    """Start JupyterLab with settings of its own in `folder`; yield its address, and the folder that it shows."""
    root, settings, config = (folder / name for name in ("lessons", "settings", "config"))
    for name, values in SETTINGS.items():
        path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    (config / "labconfig").mkdir(parents=True)
    page = {"disabledExtensions": dict.fromkeys(EXTENSIONS_OF_OTHERS, True)}
    (config / "labconfig" / "page_config.json").write_text(json.dumps(page), encoding="utf-8")
    root.mkdir()
    own = {
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(settings),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
    }
    environment = os.environ | environment | own
    # What readers see: widgets, and bars of progress.
    for name in ("COURSE_WIDGETS", "COURSE_PROGRESS", "COURSE_CORPUS"):
        environment.pop(name, None)
    port = free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.root_dir={root}"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1"),
        *("--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly"),
    ]
    with open(folder / "server.log", "wb") as log:
        server = subprocess.Popen(command, env=environment, cwd=root, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_for_port(port, server, folder / "server.log")
        yield f"http://127.0.0.1:{port}", root
    finally:
        server.terminate()
        server.wait()


def wait_for_port(port: int, server: subprocess.Popen, log: Path) -> None:
    while server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}")


# Run in the page: what a cell holds that is wider than the room it has. A line of code or of output that must be
# scrolled sideways counts, and so does a picture or table that is cut off.
TOO_WIDE = """
() => {
  const panel = window.jupyterapp.shell.currentWidget.content;
  const found = [];
  panel.widgets.forEach((cell, number) => {
    const frame = cell.node.getBoundingClientRect();
    for (const node of cell.node.querySelectorAll("*")) {
      const style = getComputedStyle(node);
      const shown = node.getClientRects().length > 0;
      if (!shown || node.closest("svg, math, .MathJax, mjx-container, .jp-Toolbar, .jp-cell-toolbar")) continue;
      const scrolls = ["auto", "scroll", "hidden", "clip"].includes(style.overflowX) && style.display !== "inline";
      const hidden = style.position === "absolute" && node.clientWidth <= 1;
      if (scrolls && !hidden && node.clientWidth > 1 && node.scrollWidth > node.clientWidth + 1)
        found.push(`cell ${number}: ${node.className || node.tagName} ${node.scrollWidth} > ${node.clientWidth}`);
      else if (node.getBoundingClientRect().right > frame.right + 1)
        found.push(`cell ${number}: ${node.className || node.tagName} ends right of its cell`);
    }
  });
  const outer = panel.node.querySelector(".jp-WindowedPanel-outer") || panel.node;
  if (outer.scrollWidth > outer.clientWidth + 1) found.push("the notebook scrolls sideways");
  return found;
}
"""


class Reader:
    """Somebody who sits in front of JupyterLab, with one notebook at a time."""

    def __init__(self, page: object, url: str, root: Path) -> None:
        self.page, self.url, self.root = page, url, root
        self.noise: list[str] = []
        page.set_default_timeout(1_000 * PATIENCE)
        page.on("console", self._hear)
        page.on("pageerror", self._fail)
        page.on("requestfailed", lambda request: self._miss(request.url, request.failure))

    def _fail(self, error: object) -> None:
        # JupyterLab itself removes a node twice now and then, where the machine is busy. We never remove any.
        if "removeChild" not in str(error) or "/static/lab/" not in str(error.stack):
            self.noise.append(f"error in the page: {error} {error.stack}")

    def _hear(self, message: object) -> None:
        if message.type == "error":
            self.noise.append(f"{message.text} ({message.location.get('url', '')})")

    def _miss(self, url: str, why: str | None) -> None:
        if why != "net::ERR_ABORTED":  # JupyterLab takes some requests back: a newer one has come
            self.noise.append(f"{url}: {why}")

    def open(self, name: str) -> None:
        """Open a notebook of the folder that JupyterLab shows, and wait for its kernel."""
        self.path = self.root / name
        self.page.goto(f"{self.url}/lab/tree/{name}?reset")
        self.wait("window.jupyterapp?.shell?.currentWidget?.sessionContext !== undefined")
        self.page.evaluate(
            """async () => {
              window.lesson = window.jupyterapp.shell.currentWidget;
              await lesson.context.ready;
              await lesson.sessionContext.ready;
            }"""
        )
        self.wait("lesson.content.widgets.length === lesson.content.model.cells.length")
        self.wait_for_kernel()

    def wait(self, condition: str, argument: object = None) -> None:
        self.page.wait_for_function(condition, arg=argument, polling=250)

    def wait_for_kernel(self) -> None:
        self.wait("lesson.sessionContext.session?.kernel?.status === 'idle'")

    def first_cell_with(self, text: str) -> int:
        """Number the first code cell whose source contains a text."""
        cells = nbformat.read(self.path, as_version=4).cells
        return next(n for n, cell in enumerate(cells) if cell.cell_type == "code" and text in cell.source)

    def code_cells(self, up_to: int) -> list[int]:
        cells = nbformat.read(self.path, as_version=4).cells[: up_to + 1]
        return [number for number, cell in enumerate(cells) if cell.cell_type == "code"]

    def run(self, number: int) -> None:
        """Run one cell."""
        self.page.evaluate(
            """async (number) => {
              lesson.content.deselectAll();
              lesson.content.activeCellIndex = number;
              await jupyterapp.commands.execute('notebook:run-cell');
            }""",
            number,
        )
        self.wait_for_kernel()

    def cell(self, number: int) -> object:
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def output(self, number: int) -> object:
        return self.cell(number).locator(".jp-Cell-outputArea")

    def sees(self, number: int, text: str | re.Pattern) -> None:
        """Wait until a text stands in the output of a cell."""
        self.output(number).get_by_text(text).first.wait_for()

    def type_into(self, number: int, old: str, new: str) -> None:
        """Click on the line of a code cell in which `old` stands, and type `new` in its place, key by key."""
        self.cell(number).locator(".cm-line").filter(has_text=old).first.click()
        self.page.keyboard.press("End")
        self.page.keyboard.press("Shift+Home")  # to the first letter: the indentation stays
        self.page.keyboard.type(new)
        source = self.page.evaluate("number => lesson.content.widgets[number].model.sharedModel.getSource()", number)
        assert [line.strip() for line in source.splitlines()].count(new) == 1, source

    def photograph(self, path: Path, number: int) -> None:
        """Save what the reader sees, with the top of a cell at the top of the notebook."""
        self.cell(number).evaluate("cell => cell.scrollIntoView({block: 'start'})")
        self.page.screenshot(path=path)

    def too_wide(self) -> list[str]:
        """List what is wider than its room."""
        return self.page.evaluate(TOO_WIDE)

    def theme(self, name: str) -> None:
        self.page.evaluate("name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})", THEMES[name])
        self.wait("light => document.body.dataset.jpThemeLight === light", str(name == "light").lower())
