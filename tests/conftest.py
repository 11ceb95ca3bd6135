"""All tests run offline: this process by pytest-socket's options, the notebooks' kernels by their startup file."""

import pytest
from hypothesis import settings

import browser_session

# A property that takes long on a busy machine is no failure; no examples are kept, because a checkout may be read-only.
settings.register_profile("course", deadline=None, database=None)
settings.load_profile("course")

# As lessons do, these start kernels, a browser, a cluster, or programs by the dozen; or they judge hundreds of answers.
SLOW = {
    "test_anywhere",
    "test_book_figures",
    "test_book_guesses",
    "test_book_questions",
    "test_browser",
    "test_classroom_book",
    "test_classroom_slides",
    "test_commands",
    "test_grading_nbgrader",
    "test_many_machines",
    "test_other_loops",
    "test_wrong_answers",
}


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
