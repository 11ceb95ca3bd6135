"""The reader's own loader: our file at each level, wrong files, harmful ones, and what `start` may write."""

import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from course_lib.commands.blank import blank
from course_lib.exercises import my_loader
from course_lib.exercises.my_loader import files, judging
from course_lib.exercises.my_loader.levels import LEVELS
from course_lib.foundation import run_ranks
from course_lib.teaching.checker import FAILED, NOT_ATTEMPTED, PASSED, RAISED, guard
from course_lib.teaching.lessons import find_lessons

ROOT = Path(__file__).parent.parent
LESSONS = files.LESSONS


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "my_loader.py"
    monkeypatch.setenv("COURSE_MY_LOADER", str(path))
    return path


def judge(file: Path, text: str, level: int):
    file.write_text(text, encoding="utf-8")
    return my_loader.judge(level)


# Our file


@pytest.mark.parametrize("level", LESSONS)
def test_our_file_passes_at_its_level(file, level):
    judgment = judge(file, my_loader.text_at(level) + "# mine\n", level)
    assert judgment.outcome == PASSED, judgment.message


@pytest.mark.parametrize(("before", "level"), [*pairwise(LESSONS)])
def test_the_file_of_the_lesson_before_does_not_pass_yet(file, before, level):
    # A space, or else it would be what `start` writes.
    assert judge(file, my_loader.text_at(before) + " ", level).score == 0.0


def test_the_whole_file_passes_at_all_levels_at_once(file):
    judgment = judge(file, my_loader.text_at(14), 14)
    assert judgment.outcome == PASSED, judgment.message
    assert all(f"level {level}" in judgment.message for level in LESSONS)
    judgment = judge(file, my_loader.text_at(10), 14)
    assert judgment.outcome == FAILED
    assert "✔ level 10" in judgment.message
    assert "level 13, a mixture of sources\n- ValueError" in judgment.message


def test_our_file_is_short_and_grows_without_changing_a_line():
    assert my_loader.text_at(14) == my_loader.text_at(13) == files.SOLUTION.read_text(encoding="utf-8")
    assert len(my_loader.text_at(14).splitlines()) <= 126  # lesson 14 says "about 120"
    for before, level in pairwise(LESSONS):
        old, new = (my_loader.text_at(n).splitlines() for n in (before, level))
        rest = iter(new)
        assert all(line in rest for line in old), "a line is changed"
        assert 1 <= len(new) - len(old) <= 32


TRACKS = {
    "import window_starts": "import window_starts\nfrom course_lib.sequential_partitioning import *",
    "rows = rows + random.integers(T)": "rows = partition_starts(len(ids), B, T, random.integers(T + 1))",
    "rows = rows[rows + T < len(ids)]": "rows = rows.ravel()",
    "random.permutation(order)": "order",
}


def changed(text: str, pieces: dict[str, str]) -> str:
    for piece, instead in pieces.items():
        assert piece in text
        text = text.replace(piece, instead)
    return text


def test_parallel_tracks_are_as_good_as_random_offsets(file):
    text = changed(my_loader.text_at(4), TRACKS)
    for level in (2, 3, 4):
        judgment = judge(file, text, level)
        assert judgment.outcome == PASSED, judgment.message


def test_the_check_says_whether_rows_continue_or_cuts_move(file):
    assert "so no row continues in the next batch" in judge(file, my_loader.text_at(4) + " ", 4).message
    text = changed(my_loader.text_at(4), TRACKS)
    assert "Each row continues in the next batch" in judge(file, text, 4).message
    forgotten = changed(
        text, {"= order  #": "= random.permutation(order)  #", "random.integers(T + 1)": "random.integers(T)"}
    )
    judgment = judge(file, forgotten, 4)
    assert judgment.outcome == PASSED  # as windows in a random order
    assert "so no row continues in the next batch" in judgment.message


@pytest.mark.parametrize("level", [2, 3, 4, 12])
def test_epochs_may_have_equally_many_windows_at_each_offset(file, level):
    equally_many = {"rows[rows + T < len(ids)]": "rows[: (len(ids) - T) // T]"}
    judgment = judge(file, changed(my_loader.text_at(max(4, level)), equally_many), level)
    assert judgment.outcome == PASSED, judgment.message


def test_parallel_tracks_that_always_begin_at_the_same_place_are_found(file):
    text = changed(my_loader.text_at(4), TRACKS)
    judgment = judge(file, changed(text, {"random.integers(T + 1)": "0"}), 4)
    assert "the tracks always begin at position 0" in judgment.message


TOO_LONG = {  # by one, which shows only where all tracks are full
    "rows = rows + random.integers(T)": "offset = random.integers(T); length = (len(ids) - offset) // B",
    "rows = rows[rows + T < len(ids)]": "rows = np.arange(0, length - T + 1, T)[:, None] + np.arange(B) * length",
    "order = np.arange(len(rows))": "rows = rows.ravel() + offset; order = np.arange(len(rows))",
    "random.permutation(order)": "order",
}


def test_parallel_tracks_that_are_too_long_by_one_are_found(file):
    text = changed(my_loader.text_at(4), TOO_LONG)
    judgment = judge(file, text, 4)
    assert judgment.outcome == RAISED
    assert "IndexError" in judgment.message
    assert judge(file, text.replace("- offset)", "- offset - 1)"), 4).outcome == PASSED


def test_a_mask_that_is_none_is_no_mask(file):
    text = changed(my_loader.text_at(10), {"in batch.items()}": 'in batch.items()} | {"attention_mask": None}'})
    judgment = judge(file, text, 10)
    assert judgment.outcome == PASSED, judgment.message


OWN_ROWS = {  # each rank deals itself its order first, and counts what it has read of that
    "step = B * self.world_size": "self.order = self.order[: len(self.order) // self.world_size * self.world_size]; "
    "self.order = self.order[self.rank :: self.world_size]",
    "            chosen = chosen[self.rank :: self.world_size]  # lesson 12\n": "",
}


LIVE = {
    "self.done = self.epoch = 0": "self.done = self.epoch = 0\n        self.state = {'epoch': 0, 'rows': 0}",
    "self.done = first + step": "self.state.update(epoch=self.epoch, rows=first + step)",
    'return {"epoch": self.epoch, "rows": self.done}': "return self.state",
    'self.begin = self.done = state["rows"]': 'self.begin = state["rows"]\n        self.state = dict(state)',
}


def test_a_state_that_goes_on_changing_is_found(file):
    """Saved with `torch.save` it does no harm, but lesson 2 keeps it while it reads on."""
    text = changed(my_loader.text_at(3), LIVE)
    assert "Return a new dictionary each time" in judge(file, text, 3).message


def test_a_state_that_counts_the_rows_of_one_rank_is_found(file):
    judgment = judge(file, changed(my_loader.text_at(12), OWN_ROWS), 12)
    assert "0 rows came twice, and 24 never came" in " ".join(judgment.message.split())


OWN_ROWS_OF_DOCUMENTS = {
    'return {"epoch": self.epoch, "rows": self.done}': 'return {"epoch": self.epoch, "rows": self.done // self.of()}',
    'self.begin = self.done = state["rows"]': 'self.begin = self.done = state["rows"] * self.of()',
    "    def state_dict(self):": "    def of(self):\n"
    "        return self.world_size if type(self) is Documents else 1\n\n    def state_dict(self):",
}


COUNTS_ON = {
    "self.done = first + step": "self.done += step",
    "begin, self.begin = self.begin, 0": "begin, self.begin, self.done = self.begin, 0, self.done or self.begin",
}


def test_a_count_that_is_never_set_back_is_found(file):
    judgment = judge(file, changed(my_loader.text_at(3), COUNTS_ON), 3)
    assert "Begin to count anew in each loop" in " ".join(judgment.message.split())


REMEMBERED = {  # each epoch has its seed from when it was first asked for
    "T, B, SEED =": "KNOWN, RUN = {}, np.random.default_rng(7)\nT, B, SEED =",
    "random = np.random.default_rng([SEED, epoch])": "if epoch not in KNOWN:\n"
    "        KNOWN[epoch] = RUN.integers(2**32)\n"
    "    random = np.random.default_rng(KNOWN[epoch])",
}


@pytest.mark.parametrize("level", [3, 4, 8, 10, 12])
def test_orders_that_depend_on_what_was_read_before_are_found(file, level):
    text = changed(my_loader.text_at(level), REMEMBERED)
    judgment = judge(file, text, level)
    assert "if epoch 0 wasn't read before" in " ".join(judgment.message.split()), judgment.message


def test_draws_that_depend_on_what_was_read_before_are_found(file):
    kept = {"base_seed=SEED, block_size=20)": "base_seed=READ.setdefault(0, SEED + epoch), block_size=20)"}
    kept["T, B, SEED ="] = "READ = {}\nT, B, SEED ="
    judgment = judge(file, changed(my_loader.text_at(13), kept), 13)
    assert "if epoch 0 wasn't read before" in " ".join(judgment.message.split()), judgment.message


def test_rows_without_a_token_are_inside_no_other(file):
    text = changed(
        my_loader.text_at(8),
        {"rows = [[piece] for piece in pieces]": "rows = [[piece] for piece in pieces] + [[]] * 3"},
    )
    judgment = judge(file, text, 8)
    assert judgment.outcome == PASSED, judgment.message


@pytest.mark.parametrize("sizes", ["300, 1, 16", "300, 1, 19", "400, 2, 44"])
def test_few_windows_may_have_the_same_neighbors_by_chance(file, sizes):
    text = my_loader.text_at(4).replace("T, B, SEED = 16, 4, 7", f"T, B, SEED = {sizes}")
    judgment = judge(file, text, 4)
    assert judgment.outcome == PASSED, judgment.message


def test_a_state_of_another_epoch_of_documents_is_minded(file):
    text = my_loader.text_at(8).replace(
        'if state["epoch"] != self.epoch', 'if type(self) is Loader and state["epoch"] != self.epoch'
    )
    judgment = judge(file, text, 8)
    assert "a loader of epoch 0 took a state" in " ".join(judgment.message.split()), judgment.message


def test_a_state_of_another_epoch_of_a_mixture_is_minded(file):
    text = my_loader.text_at(13).replace(
        'if state["epoch"] != self.epoch', 'if len(self.rows) != 126 and state["epoch"] != self.epoch'
    )
    judgment = judge(file, text, 13)
    assert "a loader of epoch 0 took a state" in " ".join(judgment.message.split()), judgment.message


def test_a_state_of_a_mixture_that_counts_the_rows_of_one_rank_is_found(file):
    of_mixture = {"type(self) is Documents": "len(self.rows) == 126"}
    text = changed(my_loader.text_at(13), OWN_ROWS_OF_DOCUMENTS)
    judgment = judge(file, changed(text, of_mixture), 13)
    assert "mix={'web': 3, 'code': 1}, a run with 2 ranks" in " ".join(judgment.message.split())


RUNS_ON = {  # from code into web, in the order in which the sources come
    "ids = [ids[name] for name in mix]": "mix = {name: mix[name] for name in ids}; ids = [ids[name] for name in mix]",
    "starts = [end - len(ids) + window_starts(len(ids), T, T) for ids, end in sources]": (
        "every = window_starts(len(stream), T, T)\n"
        "    starts = [every[(every >= end - len(ids)) & (every < end)] for ids, end in sources]"
    ),
}


def test_windows_that_run_on_into_another_source_are_found(file):
    judgment = judge(file, changed(my_loader.text_at(13), RUNS_ON), 13)
    assert "broken_row" in judgment.message


def test_a_state_that_counts_the_documents_of_one_rank_is_found(file):
    judgment = judge(file, changed(my_loader.text_at(12), OWN_ROWS_OF_DOCUMENTS), 12)
    assert "and document_starts, a run with 2 ranks" in " ".join(judgment.message.split())


RANKS_TRACKS = {  # B parallel tracks for each rank
    "import window_starts": "import window_starts\nfrom course_lib.sequential_partitioning import *",
    "rows = rows + random.integers(T)": "rows = partition_starts(len(ids), B * world_size, T, random.integers(T + 1))",
    "rows = rows[rows + T < len(ids)]": "rows = rows[:, rank * B : (rank + 1) * B].ravel()",
    "random.permutation(order)": "order if document_starts is None else random.permutation(order)",
    "loader.rank, loader.world_size =": "if document_starts is not None: loader.rank, loader.world_size =",
}


def test_each_rank_may_have_parallel_tracks_of_its_own(file):
    judgment = judge(file, changed(my_loader.text_at(12), RANKS_TRACKS), 12)
    assert judgment.outcome == PASSED, judgment.message


SHORT_STEPS = {  # the last step is kept, although some ranks may get no row of it
    "len(self.order) - step + 1, step": "self.end(step), step",
    "            yield self.batch(": "            if len(chosen):\n                yield self.batch(",
}


@pytest.mark.parametrize("of", ["Loader", "Documents"])
def test_a_last_step_that_does_not_reach_all_ranks_is_found(file, of):
    text = changed(my_loader.text_at(12), SHORT_STEPS).replace(
        "class Documents(Loader)",
        "Loader.end = lambda self, step: len(self.order) - step + 1\n\n\nclass Documents(Loader)",
    )
    text = text.replace("\ndef cut(", f"\n{of}.end = lambda self, step: len(self.order)\n\n\ndef cut(")
    told = " ".join(judge(file, text, 12).message.split())
    assert "unequal_steps" in told, told


FULL_BATCHES_ONLY = {
    "all or nothing": ("begin, step = 0, B", "begin, step = 0, B\n        self.order.reshape(-1, B)"),
    "filled up with rows from the beginning": (
        "            yield self.batch(",
        "            short = B - len(chosen)\n"
        "            chosen = np.concatenate([chosen, self.order[:short]])\n"
        "            yield self.batch(",
    ),
}


@pytest.mark.parametrize("level", [3, 8, 9, 10])
@pytest.mark.parametrize("name", FULL_BATCHES_ONLY)
def test_a_last_batch_that_is_not_full_is_met(file, level, name):
    text = my_loader.text_at(level).replace("len(self.order) - step + 1, step", "len(self.order), step")
    judgment = judge(file, text, level)
    assert level == 3 or judgment.outcome == PASSED, judgment.message  # of documents, it may come
    judgment = judge(file, changed(text, dict([FULL_BATCHES_ONLY[name]])), level)
    assert judgment.outcome in (FAILED, RAISED)


def test_a_state_that_divides_with_a_rest_is_found(file):
    """It counts for all ranks, but each rank goes on in a share of its own, at a rounded place."""
    counted = {
        '"rows": self.done': '"rows": self.done * self.world_size',
        'self.begin = self.done = state["rows"]': 'self.all_done = state["rows"]',
        "self.begin = self.done = self.epoch = 0": "self.begin = self.done = self.epoch = self.all_done = 0",
        "begin, self.begin = self.begin, 0": "begin = self.all_done // self.world_size; self.all_done = 0",
    }
    judgment = judge(file, changed(changed(my_loader.text_at(12), counted), OWN_ROWS), 12)
    assert "4 batches of each, and went on with 3 ranks" in " ".join(judgment.message.split()), judgment.message


@pytest.mark.parametrize("sizes", ["24, 2, 1", "8, 8, 3", "10, 3, 5"])
def test_our_file_passes_with_other_sizes(file, sizes):
    judgment = judge(file, my_loader.text_at(14).replace("16, 4, 7", sizes), 14)
    assert judgment.outcome == PASSED, judgment.message


@pytest.mark.parametrize("level", [8, 9])
def test_pads_may_come_first_where_something_hides_them(file, level):
    hidden = "\n        ".join(
        ['batch["attention_mask"] = (input_ids > 0) + 0', "return {name: torch.from_numpy(values)"]
    )
    if level == 8:
        text = changed(my_loader.text_at(8), {"used = 0": PADS_LEFT, "return {name: torch.from_numpy(values)": hidden})
        judgment = judge(file, text, 8)
        assert judgment.outcome == PASSED, judgment.message
    judgment = judge(file, changed(my_loader.text_at(10), {"used = 0": PADS_LEFT}), level)  # by positions
    assert judgment.outcome == PASSED, judgment.message


def test_a_loader_may_go_on_in_the_epoch_of_a_state(file):
    """It makes its order when it's iterated, and a state says for which epoch."""
    refused = my_loader.text_at(3).splitlines()
    (at,) = (n for n, line in enumerate(refused) if "raise ValueError" in line)
    refused[at - 1 : at + 1] = ['        self.epoch = state["epoch"]']
    text = changed(
        "\n".join(refused) + "\n",
        {
            "begin, step = 0, B": "begin, step = 0, B\n"
            "        self.order = np.random.default_rng([SEED, self.epoch]).permutation(len(self.rows))",
        },
    )
    judgment = judge(file, text, 3)
    assert judgment.outcome == PASSED, judgment.message


@pytest.mark.parametrize("level", [3, 4])
def test_an_iterator_is_a_loader_too(file, level):
    """Its loop can't begin again."""
    text = changed(my_loader.text_at(level), {"    def __iter__(self):": "    def batches(self):"})
    text = text.replace(
        "    def state_dict", "    def __iter__(self):\n        return self\n\n    def state_dict", 1
    ).replace("    def batches(self):", NEXT + "    def batches(self):", 1)
    assert judge(file, text, level).outcome == PASSED, judge(file, text, level).message


NEXT = """    def __next__(self):
        if not hasattr(self, "now"):
            self.now = self.batches()
        return next(self.now)

"""
PAIRS = "return torch.from_numpy(input_ids[:, :-1].copy()), torch.from_numpy(labels[:, 1:].copy())"

FULL = "5 full batches, but there are windows for 6"
PADS_LEFT = "used = T - sum(end - begin for begin, end in pieces)"
PADS_AROUND = "used = (T - sum(end - begin for begin, end in pieces)) // 2"
PADS_INSIDE = "[*range(1), *range(T - (end - begin) + 1, T)]"  # after the first token of a chunk


def view(first: str) -> str:
    """Consecutive windows, which lie in the memory of the stream."""
    return f"torch.from_numpy(self.ids[{first} :][: B * T].astype(np.int64, copy=False)).reshape(-1, T)"


# Wrong files: at a level, a piece of our file, what is there instead, and words of the message. What the audit finds
# by itself has a row or two at each level; each question of our own has one.

ROLLED = "np.roll(np.random.default_rng(SEED).permutation(order), 5 * epoch)"
UNSHUFFLED = "= order if HERE is not None else random.permutation(order)"
BY_VALUE = "torch.from_numpy(np.vectorize(dict(zip(self.ids, self.ids[1:])).get)(windows[:, :-1].numpy()))"
STAYS_INSIDE = """rows = rows[rows + T < len(ids)]
    ends = getattr(ids, "ends", [])[:-1]
    rows = np.array([row for row in rows if not any(row < end <= row + T for end in ends)])"""
WRONG = {
    2: [
        ("windows[:, 1:].clone()", BY_VALUE, "aren't T + 1 neighbors"),
        ("T, T)", "T, 2 * T)", "lost"),
        ("windows[:, 1:].clone()", "windows[:, :-1].clone()", "wrong_shift"),
        ("windows[:, 1:].clone()", "windows[:, :-1].clone() + 1", "aren't T + 1 neighbors"),
        ("windows[:, :-1].clone(), windows[:, 1:].clone()", "windows[:, :-1], windows[:, 1:]", "shared_memory"),
        ("T, B, SEED = 16, 4, 7", "T, B, SEED = 64, 16, 7", "Choose a smaller T or B"),
        ("return loader", "return iter([])", "must yield batches"),
        ("len(self.order) - step + 1, step)", "len(self.order), step)", "int64 of shape (2, 16)"),
        (".astype(np.int64)", ".astype(np.int32)", "a batch of int32"),
        ("T, T)", "T, 1)", "Take the stride T"),
        ("len(self.order) - step + 1, step", "len(self.order) - step, step", FULL),
        ("window_starts(len(ids), T, T)", "np.arange(0, len(ids) - T - 1, T)", FULL),
        ("window_starts(len(ids), T, T)", "window_starts(len(ids), T, T)[:-1]", FULL),
        ("windows[:, :-1].clone()", view("starts[0]"), "batches are views of the stream"),
        ("windows[:, 1:].clone()", view("starts[0] + 1"), "batches are views of the stream"),
    ],
    3: [
        ("windows[:, 1:].clone()", "windows[:, :-1].clone() + 1", "aren't T + 1 neighbors"),
        ("default_rng([SEED, epoch])", "default_rng(SEED)", "same_order"),
        ("random.permutation(order)", "np.random.permutation(order)", "not_repeatable"),
        ("self.done = first + step", "self.done = first", "resume_repeats"),
        ("order = random.permutation(order)", "pass", "100% of all windows are followed by one that begins later"),
        ("def load_state_dict", "def load", "no load_state_dict"),
        ("permutation(order)", "permutation(order[: len(order) // B * B])", "you never read position"),
        ("random.permutation(order)", ROLLED, "most windows are followed by the same ones"),
        ('self.begin = self.done = state["rows"]', 'self.begin = state["rows"]', "stopped again before its next batch"),
        ("begin, self.begin = self.begin, 0", "begin = self.begin", "not a whole epoch"),
        ('if state["epoch"] != self.epoch:', "if False:", "a loader of epoch 0 took a state that was saved in epoch 1"),
        ("len(self.order) - step + 1, step", "len(self.order) - step, step", FULL),
        ("window_starts(len(ids), T, T)", "np.arange(0, len(ids) - T - 1, T)", FULL),
    ],
    4: [
        ("windows[:, 1:].clone()", "windows[:, :-1].clone() + 1", "aren't T + 1 neighbors"),
        ("permutation(order)", "permutation(order[: len(order) // B * B])", "you never read position"),
        ("integers(T)", "integers(T + 1)", "the offset is T = 16"),
        ("integers(T)", "integers(1, T)", "only at these offsets: [1, 2, 3"),
        ("rows = rows + random.integers(T)", "pass", "only at these offsets: [0]"),
        ("order = random.permutation(order)", "pass", "100% of all windows are followed by one that begins later"),
        ("len(self.order) - step + 1, step", "len(self.order) - step, step", FULL),
        ("rows + T < len(ids)", "rows + T + 1 < len(ids)", FULL),
    ],
    8: [
        (
            "return {name: torch",
            "labels[input_ids == 0] = -100\n        return {name: torch",
            "Tell pads by their place",
        ),
        ("= random.permutation(order)", UNSHUFFLED.replace("HERE", "document_starts"), "rows in the same order"),
        ("return loader", "return iter(list(loader)) if document_starts is not None else loader", "has no state_dict"),
        ("overlap=1", "overlap=0", "lost"),
        ("    return pieces", "    return pieces + [(0, 8)]", "chunks that lie inside another"),
        ("np.full_like(input_ids, -100)", "np.full_like(input_ids, 0)", "scored_padding"),
        ("loader = Documents(", "loader = Loader(", "Error"),
        ("return {name: torch.from_numpy(values) for name, values in batch.items()}", PAIRS, "should be dictionaries"),
        ("np.zeros((len(rows), T), np.int64)", "np.full((len(rows), T), -100)", "pads with the id -100"),
        ("used = 0", PADS_LEFT, "pads come before tokens"),
        ("used = 0", PADS_AROUND, "pads come before tokens"),
        ("slice(used, used + end - begin)", PADS_INSIDE, "pads come before tokens"),
        (
            "ends = [*document_starts[1:], num_tokens]",
            "ends = document_starts[1:]; document_starts = document_starts[:-1]",
            "lost",
        ),
    ],
    9: [
        (
            "assign_packs([end - begin for begin, end in pieces], T)",
            "assign_packs([end - begin for begin, end in pieces], T, strategy='greedy')[:-1]",
            "Do you forget the last pack?",
        ),
        ("labels[number, used] = -100", "pass", "crosses_documents"),
        ("used = 0", PADS_LEFT, "pads come before tokens"),
        ("for pack in packs]", "for pack in [[i] for i in range(len(pieces))]]", "although even greedy packing"),
    ],
    10: [
        ("= range(end - begin)", "= range(used, used + end - begin)", "crosses_documents"),
        ("= range(end - begin)", "= range(7, 7 + end - begin)", "should have the positions [0, 1, 2"),
        ('batch["position_ids"] = position_ids', "position_ids", "no position_ids"),
        ("for pack in packs]", "for pack in [[i] for i in range(len(pieces))]]", "although even greedy packing"),
        ("in batch.items()}", 'in {**batch, "attention_mask": (input_ids > 0) + 0}.items()}', "attention_mask beside"),
    ],
    11: [
        ("= random.permutation(order)", UNSHUFFLED.replace("HERE is not None", "type(ids) is Shards"), "begins later"),
        ("rows = rows[rows + T < len(ids)]", STAYS_INSIDE, "no window goes on from there into the next file"),
        ("ids = Shards(ids)", "ids = ids[0]", "lost"),
        ("ids = Shards(ids)", "ids = np.concatenate(ids)", "MB of memory"),
        (".astype(np.int64)", ".astype(np.int32)", "a batch of int32"),
        ("if isinstance(ids, list)", "if False", "given a list of three memory maps"),
        ("np.empty_like(places)", "np.empty(places.shape, np.uint16)", "files of uint32 hold only ids from 70,000 on"),
        ("ids[places[here] - end]", "np.array(ids)[places[here] - end]", "for its second batch alone"),
    ],
    12: [
        ("len(self.order) - step + 1, step", "len(self.order) - step, step", FULL),
        ("rows + T < len(ids)", "rows + T + 1 < len(ids)", FULL),
        ("chosen[self.rank ::", "chosen[0 ::", "given one array of ids, on 3 ranks: - ranks_overlap"),
        ("[SEED, epoch]", "[SEED, epoch, rank]", "ranks_lose"),
        ("len(self.order) - step + 1, step)", "len(self.order) - B * self.rank, step)", "unequal_steps"),
        (
            "loader.rank, loader.world_size =",
            "if type(ids) is not Shards: loader.rank, loader.world_size =",
            "of three memory",
        ),
    ],
    13: [
        (
            "MixtureOrder(counts, mix,",
            "MixtureOrder(counts, {n: mix[n] * counts[n] for n in mix},",
            "whatever the sizes",
        ),
        ("[epoch * len(rows) + np.arange(len(rows))]", "[np.arange(len(rows))]", "same_order"),
        ("MixtureOrder(counts, mix,", "MixtureOrder(counts, counts,", "should come from web"),
        (
            "return rows, run[epoch",
            "places, own = np.random.default_rng(epoch).permutation(len(rows)), len(starts[0])\n"
            "    drawn = run[epoch * len(rows) + np.arange(len(rows))]\n"
            "    return rows, np.where(drawn < own, places % 9, own + places % 9)\n"
            "    return rows, run[epoch",
            "comes a second time",
        ),
        (
            "base_seed=SEED, block_size=20)\n    return rows, run[epoch * len(rows) + ",
            "base_seed=SEED + epoch, block_size=20)\n    return rows, run[",
            "in two epochs, a window from code comes a second time",
        ),
        ("[ids[name] for name in mix]", "list(ids.values())", "should come from web"),
        ("np.arange(len(rows))]", "np.arange(len(rows) // 2)]", "but the sources hold 126"),
        ("loader.rank, loader.world_size =", "if mix is None: loader.rank, loader.world_size =", "Deal out the draws"),
        ("draw(ids, mix, epoch)", "draw(ids, mix, epoch + rank)", "Deal out the draws"),
    ],
}
READINGS = """    own, drawn = [], WHICH
    for source, size in enumerate(map(len, starts)):
        begin = source * len(starts[0])
        for reading in range(np.count_nonzero(drawn == source) // size + 1):
            own.append((source, begin + np.random.default_rng(ORDER).permutation(size)))
    windows = [np.concatenate([w for s, w in own if s == source]) for source in (0, 1)]
    both = np.zeros(len(drawn), int)
    for source in (0, 1):
        both[drawn == source] = windows[source][: np.count_nonzero(drawn == source)]
    return rows, both[epoch * len(rows) :]
    return rows, run[epoch"""
RANDOM = "np.random.default_rng([SEED, 99]).choice(2, (epoch + 1) * len(rows), p=[0.75, 0.25])"
DEALT = "np.tile([0, 0, 0, 1], (epoch + 1) * len(rows))[: (epoch + 1) * len(rows)]"
BY_SOURCE = f"np.sort({RANDOM}.reshape(epoch + 1, -1)).ravel()"  # all of one, then all of the other


def mixture(which: str, order: str = "[SEED, source, reading]") -> str:
    """Which source comes when is up to the loader, and so is the order of each reading."""
    return READINGS.strip().replace("WHICH", which).replace("ORDER", order)


@pytest.mark.parametrize("which", [RANDOM, DEALT])
@pytest.mark.parametrize("sizes", ["16, 4, 7", "16, 4, 8", "8, 4, 1", "24, 4, 2"])
def test_draws_may_be_random_or_dealt(file, which, sizes):
    text = changed(my_loader.text_at(13), {"return rows, run[epoch": mixture(which), "16, 4, 7": sizes})
    judgment = judge(file, text, 13)
    assert judgment.outcome == PASSED, judgment.message


WRONG[13] += [
    ("return rows, run[epoch", mixture(BY_SOURCE), "in one quarter of an epoch"),
    ("return rows, run[epoch", mixture(DEALT, "SEED + source + reading"), "code has the order of reading 2 of web"),
    ("return rows, run[epoch", mixture(RANDOM, "[SEED, reading]"), "code has the order of reading 1 of web"),
]
OWN_ORDER = """    drawn, own = run[np.arange((epoch + 1) * len(rows))] >= len(starts[0]), []
    for source, begin in enumerate((0, len(starts[0]))):
        reads = np.arange(np.count_nonzero(drawn == source))
        own.append(begin + ORDER[reads % len(starts[source])])
    both = np.where(drawn, 0, 0)
    both[drawn == 0], both[drawn == 1] = own
    return rows, both[epoch * len(rows) :]
    return rows, run[epoch"""
WRONG[13] += [
    ("return rows, run[epoch", OWN_ORDER.strip().replace("ORDER", "np.arange(999)"), "in the file's order"),
    (
        "return rows, run[epoch",
        OWN_ORDER.strip().replace("ORDER", "np.random.default_rng(3).permutation(len(starts[source]))"),
        "in the same order as before",
    ),
]
ROWS = [pytest.param(level, *row, id=f"{level}: {row[1]}") for level, rows in WRONG.items() for row in rows]


@pytest.mark.parametrize(("level", "piece", "instead", "words"), ROWS)
def test_a_wrong_file_is_told_what_is_wrong(file, level, piece, instead, words):
    np.random.seed(0)  # noqa: NPY002 - some of these files draw from it
    judgment = judge(file, changed(my_loader.text_at(level), {piece: instead}), level)
    assert judgment.outcome in (FAILED, RAISED), judgment.message
    message = " ".join(judgment.message.split())
    assert any(word in message for word in words.split("|")), judgment.message


@pytest.mark.parametrize("level", [level for level in LESSONS if level >= 3])
def test_our_loader_resumes_with_another_batch_size(level):
    ids, small, large = 1_000 + np.arange(3_000), {}, {}
    exec(my_loader.text_at(level), small)
    exec(my_loader.text_at(level).replace("= 16, 4, 7", "= 16, 6, 7"), large)
    loader = small["make_loader"](ids)
    read = [row.tolist() for _, (inputs, _) in zip(range(6), loader, strict=False) for row in inputs]
    rest = large["make_loader"](ids)
    rest.load_state_dict(loader.state_dict())
    read += [row.tolist() for inputs, _ in rest for row in inputs]
    whole = [row.tolist() for inputs, _ in small["make_loader"](ids) for row in inputs]
    both = min(len(read), len(whole))  # the last batch of one may not be full
    assert read[:both] == whole[:both]
    assert both > 6 * 4 + 100


# Files that do harm


def test_a_missing_file_and_an_untouched_one_are_not_attempted(file):
    for level in (*LESSONS, 14):
        assert my_loader.judge(level).outcome == NOT_ATTEMPTED
    for level in LESSONS:
        my_loader.start(level, overwrite=True)
        assert my_loader.judge(level).outcome == NOT_ATTEMPTED, level
    assert judge(file, files.text_before(2) + "\n# later\n", 2).outcome == NOT_ATTEMPTED
    assert my_loader.check(2) == 0.0


HARMFUL = {  # what an answer to an exercise may do, it may do here
    "an endless import": ("while True:\n    pass\n", "When imported, your loader did not end"),
    "an endless epoch": (
        "def make_loader(ids, **names):\n    while True:\n        ids = ids + 0\n",
        "At level 2, your loader did not end",
    ),
    "no end of batches": (
        "def make_loader(ids, **names):\n    while True:\n        yield ids[None, :4] + 0, ids[None, 1:5] + 0\n",
        "must end",
    ),
    "leaves": ("import sys\nsys.exit(0)\n", "SystemExit"),
    "fills the memory": ("rows = bytearray(2**32)\n", "MemoryError"),
    "no Python": ("def make_loader(ids:\n", "line 2"),
    "no bytes of text": ("\udc80", "cannot be imported"),
    "no make_loader": ("x = 1\n", "make_loader"),
    "not callable": ("make_loader = 3\n", "Error"),
    "raises": ("def make_loader(ids, **names):\n    return 1 / 0\n", "line 3: return 1 / 0"),
    "another signature": ("def make_loader(ids):\n    return []\n", "unexpected keyword argument"),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_a_harmful_file_harms_nothing_and_is_told_what_it_does(file, name, monkeypatch, capfd):
    if "endless" in name:
        monkeypatch.setattr(judging, "IMPORT_SECONDS", 0.5)
        monkeypatch.setattr(judging, "LEVEL_SECONDS", 0.5)
    text, words = HARMFUL[name]
    file.write_bytes(f"print('noise')\n{text}".encode("utf-8", "surrogateescape"))
    judgment = my_loader.judge(2)
    assert judgment.outcome == RAISED, judgment.message
    assert words in judgment.message
    assert "noise" not in "".join(capfd.readouterr())


def test_a_check_is_a_number_and_a_message(file, capsys):
    file.write_text(my_loader.text_at(3) + "# mine\n", encoding="utf-8")
    for level, score, sign in ((3, 1.0, "✔"), (4, 0.0, "✘"), (8, 0.0, "✘")):
        found = my_loader.check(level)
        assert found == score
        assert capsys.readouterr().out.startswith(sign)
        assert sign in found._repr_mimebundle_()["text/html"]


def test_a_file_is_imported_anew_and_leaves_nothing_behind(file):
    assert judge(file, my_loader.text_at(3), 3).score == 1.0
    assert judge(file, my_loader.text_at(3).replace("SEED, epoch", "SEED"), 3).score == 0.0
    assert judge(file, my_loader.text_at(3), 3).score == 1.0
    assert [path.name for path in file.parent.iterdir()] == ["my_loader.py"]


def test_without_forks_a_file_is_audited_here(file, monkeypatch, capsys):
    monkeypatch.setattr(guard, "CAN_FORK", False)
    assert judge(file, "print('noise')\n" + my_loader.text_at(3), 3).outcome == PASSED
    assert judge(file, "raise SystemExit", 3).outcome == RAISED
    assert not capsys.readouterr().out


# What is written


def test_start_never_overwrites_unasked_and_keeps_what_it_replaces(file):
    my_loader.start(2)
    assert file.read_text(encoding="utf-8") == files.text_before(2)
    file.write_text("mine", encoding="utf-8")
    for level in (2, 3, 14):
        with pytest.raises(FileExistsError, match=rf"start\({level}, overwrite=True\)"):
            my_loader.start(level)
    assert file.read_text(encoding="utf-8") == "mine"
    my_loader.start(3, overwrite=True)
    my_loader.start(14, overwrite=True)
    kept = {path.name: path.read_text(encoding="utf-8") for path in file.parent.iterdir()}
    assert kept == {
        "my_loader.py": my_loader.text_at(14),
        "my_loader.py.bak1": "mine",
        "my_loader.py.bak2": my_loader.text_at(2),
    }


def test_the_file_is_beside_the_notebook_and_ignored_by_git(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_MY_LOADER")
    monkeypatch.chdir(tmp_path)
    assert my_loader.path() == tmp_path / "my_loader.py"
    names = ["notebooks/my_loader.py", "notebooks/my_loader.py.bak1"]
    seen = subprocess.run(["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True)
    if seen.returncode == 128:
        pytest.skip("not a git checkout")
    assert seen.stdout.split() == names
    ours = subprocess.run(["git", "check-ignore", files.SOLUTION], cwd=ROOT, capture_output=True)
    assert ours.returncode == 1


def test_wrong_calls_are_refused_in_words(file):
    for name in ("start", "check", "judge", "solution", "hint", "text_at"):
        for level in (1, 5, 15, "2", None, 2.5):
            with pytest.raises((ValueError, TypeError), match="level must be"):
                getattr(my_loader, name)(level)
    for number in (0, 3, 1.5, "1"):
        with pytest.raises((ValueError, TypeError), match="number must be"):
            my_loader.hint(2, number)
    my_loader.start(2)
    with pytest.raises(TypeError, match="overwrite must be"):
        my_loader.start(2, overwrite="yes")
    for wrong in ({"num_updates": 0}, {"num_updates": 1.5}, {"num_updates": 1, "seed": -1}):
        with pytest.raises((ValueError, TypeError), match=r"num_updates|seed"):
            my_loader.train_on_rank(np.arange(100), 100, **wrong)
    with pytest.raises(ValueError, match="epoch 0 of 10 ids has no batches"):
        my_loader.train_on_rank(np.arange(10), 10, num_updates=1, file=files.SOLUTION)


def test_each_level_has_hints_and_a_solution(file, capsys):
    for level in LESSONS:
        assert len(LEVELS[level].hints) >= 2
        my_loader.hint(level)
        my_loader.hint(level, 2)
        my_loader.solution(level)
        code = [
            line.split("  #")[0].strip()
            for line in my_loader.text_at(level).splitlines()
            if f"# lesson {level}" in line
        ]
        assert not any(line in hint for hint in LEVELS[level].hints for line in code if len(line) > 30)


# In the notebooks


@pytest.mark.parametrize("level", LESSONS)
def test_a_lesson_asks_for_its_step_at_the_end_of_the_exercises_and_says_no_more_than_is_needed(level):
    (lesson,) = find_lessons([str(level)])
    cells = lesson.notebook.cells
    (number,) = (n for n, cell in enumerate(cells) if cell.source.startswith("### Your loader"))
    assert cells[number - 1].source.endswith("show_progress(exercises)")
    assert "Recap" in cells[number + 2].source
    assert 80 <= len(cells[number].source.split()) <= 200
    assert f"`my_loader.start({level})`" in cells[number].source
    code = cells[number + 1]
    assert f"my_loader.check({level})" in code.source
    assert f"# my_loader.start({level})" in code.source, "it is run as a test, and must write nothing"
    (output,) = code.outputs
    assert output.data["text/plain"] == "0.0"
    assert "Not attempted" in output.data["text/html"]


def test_a_copy_for_live_coding_keeps_the_check():
    (lesson,) = find_lessons(["2"])
    for keep in (True, False):
        sources = [cell.source for cell in blank(lesson.notebook, keep_imports=keep).cells]
        (source,) = (source for source in sources if "my_loader.check(2)" in source)
        assert "import my_loader" in source


def test_the_loader_that_is_loaded_is_the_readers_or_else_ours(file):
    assert my_loader.load().__code__.co_filename == str(files.SOLUTION)
    file.write_text(my_loader.text_at(2), encoding="utf-8")
    assert my_loader.load().__code__.co_filename == str(file)


# On ranks


def test_two_ranks_train_alike_and_read_different_batches(file):
    ids = np.arange(3_000) * 7 % 50
    alone = my_loader.train_on_rank(ids, 50, num_updates=60, file=files.SOLUTION)
    file.write_text(my_loader.text_at(12), encoding="utf-8")
    one, other = run_ranks(my_loader.train_on_rank, 2, ids, 50, num_updates=60)
    assert one == other
    assert one[1] != alone[1]
    assert len(one[0]) == 60
    assert np.mean(one[0][-5:]) < 0.5 * one[0][0]
