"""All tests run offline: this process by pytest-socket's options, the notebooks' kernels by their startup file."""

import pytest
from hypothesis import settings

import browser_session

# A property that takes long on a busy machine is no failure; no examples are kept, because a checkout may be read-only.
# Everybody tries the same examples, so that a change is refused for what it does and not by luck. To search for others:
# pytest --hypothesis-profile=search
settings.register_profile("course", deadline=None, database=None, derandomize=True)
settings.register_profile("search", deadline=None, database=None, max_examples=1_000)
settings.load_profile("course")

# As lessons do, these start kernels, a browser, a cluster, or programs by the dozen; or they judge hundreds of answers.
# In other files, the tests that do so are marked one by one.
SLOW = {
    "test_anywhere",
    "test_auditing_our_loaders",
    "test_book",
    "test_browser",
    "test_check",
    "test_checker",
    "test_commands",
    "test_executors",
    "test_processes",
    "test_many_machines",
    "test_my_loader",
    "test_nbgrader",
    "test_other_loops",
    "test_ranks",
    "test_scores",
}


# What a test has taken away, and what was still on its way when the next page was opened.
LOST, LEFT = "net::ERR_FAILED", "net::ERR_ABORTED"


def pytest_addoption(pluginmanager):
    """Import what prepares the kernels: once, also where the conftest.py of the notebooks does the same."""
    pluginmanager.import_plugin("kernel_environment")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem in SLOW or item.path.suffix == ".ipynb":
            item.add_marker("slow")


@pytest.fixture(scope="module")
def browser():
    """For the tests of a file: as long as it is open, playwright's event loop runs, and no other may."""
    if why := browser_session.missing():
        pytest.skip(why)
    with browser_session.open_browser() as browser:
        yield browser


@pytest.fixture
def visit(browser):
    """Open an address without a network, in a browser that remembers nothing; an error in it fails the test."""
    faults, contexts = [], []

    def visit(address: str, *scripts: str, **options: object) -> object:
        contexts.append(browser.new_context(offline=True, **options))
        contexts[-1].set_default_timeout(1_000 * browser_session.PATIENCE)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: said.type == "error" and LOST not in said.text and faults.append(said.text))
        page.on("requestfailed", lambda lost: lost.failure not in (LOST, LEFT) and faults.append(lost.url))
        for script in scripts:
            page.add_init_script(script)
        page.goto(address)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert faults == []
