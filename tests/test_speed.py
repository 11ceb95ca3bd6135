"""The page of speed says what was measured."""

import importlib.util
import json
import statistics
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAM = ROOT / "tests" / "benchmarks" / "speed.py"


@pytest.fixture(scope="module")
def speed():
    spec = importlib.util.spec_from_file_location("speed", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


@pytest.fixture(scope="module")
def results(speed) -> dict:
    return json.loads((speed.RESULTS / "speed.json").read_text(encoding="utf-8"))


def test_the_page_is_what_its_results_say(speed, results):
    assert (speed.RESULTS / "README.md").read_text(encoding="utf-8") == speed.page(results)


def test_all_was_measured_and_nobody_left_out(speed, results):
    assert results["quick"] is False
    assert set(results["versions"]) == set(speed.PEERS)
    assert all(contender["seconds"] for topic in results["topics"] for contender in topic["contenders"])
    assert {topic["short"] for topic in results["topics"]} >= {"read", "rows", "pack", "encode", "learn"}
    for points in results["growth"].values():
        assert [point["tokens"] for point in points] == [10**5, 10**6, 10**7, 10**8]


def test_what_others_do_better_stands_there(speed, results):
    faster = [
        contender["name"]
        for topic in results["topics"]
        for contender in topic["contenders"]
        if contender["role"] == speed.USUAL and statistics.median(speed.ratios(contender, topic)) < 0.9
    ]
    assert "tiktoken" in faster
    told = speed.page(results).partition("## What others do better")[2].partition("## ")[0]
    assert all(f"- {name}: " in told for name in faster)


def test_ratios_are_those_of_one_round_and_exponents_slopes(speed):
    ours = {"name": "a", "role": speed.OURS, "seconds": [1.0, 2.0]}
    theirs = {"name": "b", "role": speed.USUAL, "seconds": [3.0, 4.0]}
    topic = {"title": "t", "contenders": [theirs, ours]}
    assert speed.ratios(theirs, topic) == [3.0, 2.0]
    points = [{"tokens": 10**k, "seconds": 5.0 * 10 ** (2 * k)} for k in (5, 6, 7)]
    points[0]["seconds"] = 10.0  # what is constant rules there
    assert speed.exponent(points) == pytest.approx(2)
