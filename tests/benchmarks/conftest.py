"""Print what the benchmarks measured as one table, at the end of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

TABLE = pytest.StashKey[list[tuple[str, str, str]]]()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """One thread, since threads that compete for two cores are what varies most from run to run."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[[str, str, str], None]:
    """Add a row to the table: what was measured, the value, and how it compares."""
    rows = request.config.stash.setdefault(TABLE, [])
    return lambda name, value, comparison="": rows.append((name, value, comparison))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = config.stash.get(TABLE, [])
    if rows:
        terminalreporter.section("measured (best of interleaved rounds; ratios within this run)")
        for name, value, comparison in rows:
            terminalreporter.write_line(f"{name:<52}{value:>20}   {comparison}".rstrip())
