"""Exercises of lesson 15: labels of a conversation, and the weight of each target."""

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import numpy as np

from course_lib.teaching.checker import Case, bug_or_not, exercise, true_or_false


def _conversations(random: Random) -> Iterator[Case]:
    user, model, system = "user", "assistant", "system"
    yield from (([user], [[8, 1, 9]], 1), ([model], [[7, 1, 9]], 1))
    yield [user, model], [[8, 1, 9], [7, 2, 9]], 1
    yield [user, model], [[1, 9], [2, 9]], 0
    yield [user, model], [[8, 1, 9], [6, 7, 6, 9]], 1  # the 7 isn't a header here
    yield [model, user], [[1, 2, 9], [3, 9]], 0
    yield [user, model, user, model], [[8, 1, 9], [7, 3, 9], [8, 4, 9], [7, 5, 6, 9]], 1
    yield [system, user, model], [[8, 8, 1, 9], [8, 8, 9], [7, 7, 2, 3, 9]], 2
    yield [user, model, user], [[8, 8, 1, 9], [7, 7, 9], [8, 8, 4, 9]], 2
    for _ in range(8):
        roles = [user, *random.choices((user, model, model), k=random.randrange(1, 5))]
        header = random.randrange(3)
        turns = [[7] * header + random.choices(range(1, 7), k=2) + [9] for _ in roles]
        yield roles, turns, header


@exercise(
    cases=_conversations,
    hints=(
        "Go turn by turn. If the assistant wrote a turn, which of its ids did it "
        "write, and which did the template put there?",
        "A turn of the assistant has `header_length` labels of -100, and then its own "
        "ids, up to the last. All other turns have -100 for each id. And which id has "
        "nothing before it?",
    ),
)
def chat_labels(
    roles: list[str], turns: list[list[int]], header_length: int
) -> list[int]:
    """Return the labels of a conversation: what the assistant wrote is scored."""
    labels = []
    for role, ids in zip(roles, turns, strict=True):
        unscored = header_length if role == "assistant" else len(ids)
        labels += [-100] * unscored + ids[unscored:]
    labels[0] = -100
    return labels


def _labels(roles, turns, header, of_scored=None, which=lambda own: own):
    own = [i for i, role in enumerate(roles) if role == "assistant"]
    labels = []
    for i, ids in enumerate(turns):
        scored = (of_scored or (lambda ids: [-100] * header + ids[header:]))(ids)
        labels += scored if i in which(own) else [-100] * len(ids)
    return [-100, *labels[1:]]


chat_labels.mistake(
    "you score the header of the assistant's turns. The template puts it there, in "
    "training as in use, so the model never has to write it.",
    lambda roles, turns, header: _labels(roles, turns, header, list),
)
chat_labels.mistake(
    "you leave out the last id of a turn, so the model would never learn to stop.",
    lambda roles, turns, header: _labels(
        roles, turns, header, lambda ids: [-100] * header + ids[header:-1] + [-100]
    ),
)
chat_labels.mistake(
    "you score only one of the assistant's turns, the last or the first.",
    lambda roles, turns, header: _labels(roles, turns, header, which=lambda o: o[-1:]),
    lambda roles, turns, header: _labels(roles, turns, header, which=lambda o: o[:1]),
)
chat_labels.mistake(
    "you score turns that the assistant didn't write.",
    lambda roles, turns, header: chat_labels(["assistant"] * len(turns), turns, header),
    lambda roles, turns, header: chat_labels(
        ["user" if role == "user" else "assistant" for role in roles], turns, header
    ),
)
chat_labels.mistake(
    "you shift the labels, but the model does that. Leave each one at the place of its "
    "id.",
    lambda roles, turns, header: [*chat_labels(roles, turns, header)[1:], -100],
)
chat_labels.mistake(
    "you score the very first id when the assistant begins, but nothing comes before "
    "it.",
    lambda roles, turns, header: [
        turns[0][0] if roles[0] == "assistant" and header == 0 else -100,
        *chat_labels(roles, turns, header)[1:],
    ],
)


def _prompts(random: Random) -> Iterator[Case]:
    yield from (([5], [5, 6]), ([5, 6], [5, 6, 7, 0]), ([5, 6, 3], [5, 6, 7, 0]))
    yield from (([5, 3, 3], [5, 6, 0]), ([3], [6, 0]), ([5, 6, 7], [5, 6]))
    yield from (([5, 6, 7, 8], [5, 9]), ([5, 5], [5, 5, 5, 0]), ([4, 5, 4], [4, 6, 4]))
    for _ in range(12):
        ids = [*random.choices(range(1, 5), k=random.randrange(2, 8)), 0]
        prompt = ids[: random.randrange(1, len(ids))]
        yield prompt, ids
        yield prompt[:-1] + random.choices(range(1, 5), k=random.randrange(1, 4)), ids


@exercise(
    cases=_prompts,
    hints=(
        "Go along both lists at once. Where do they differ for the first time, and "
        "what if one of them ends before that?",
        "Count the places at which the two agree, and stop at the first at which they "
        "don't. `zip` ends with the shorter list. That many labels are -100.",
    ),
)
def completion_labels(prompt_ids: list[int], ids: list[int]) -> list[int]:
    """Return the labels of a prompt with its answer: only the answer is scored."""
    start = 0
    for one, other in zip(prompt_ids, ids, strict=False):
        if one != other:
            break
        start += 1
    return [-100] * start + ids[start:]


completion_labels.mistake(
    "you go by the length of the prompt. But a token may reach across its end, and "
    "then the first token of the answer isn't scored.",
    lambda prompt, ids: [-100] * len(prompt) + ids[len(prompt) :],
    lambda prompt, ids: ([-100] * len(prompt) + ids[len(prompt) :])[: len(ids)],
)
completion_labels.mistake(
    "you compare all places. After the first difference, the answer has begun, even if "
    "an id later on happens to be the same.",
    lambda prompt, ids: [
        -100 if place < len(prompt) and prompt[place] == id else id
        for place, id in enumerate(ids)
    ],
)
completion_labels.mistake(
    "you leave out the labels of the prompt, but each of its ids needs a -100.",
    lambda prompt, ids: [n for n in completion_labels(prompt, ids) if n != -100],
)
completion_labels.mistake(
    "you shift the labels, but the model does that. Leave each one at the place of its "
    "id.",
    lambda prompt, ids: [*completion_labels(prompt, ids)[1:], -100],
)


def _too_long(random: Random) -> Iterator[Case]:
    yield from (([1, 2], [3, 0], 4), ([1, 2], [3, 0], 9), ([1, 2], [3, 0], 3))
    yield from (([1, 2], [3, 0], 2), ([1, 2], [3, 0], 1), ([1, 2, 3, 4], [5, 6, 0], 5))
    yield from (([1], [2, 3, 4, 0], 4), ([1], [2, 3, 4, 0], 5), ([1, 2, 3], [0], 2))
    for _ in range(10):
        prompt = random.choices(range(1, 9), k=random.randrange(1, 6))
        answer = [*random.choices(range(1, 9), k=random.randrange(4)), 0]
        yield prompt, answer, random.randrange(1, 11)


@exercise(
    cases=_too_long,
    hints=(
        "How many ids of the prompt still fit, if the whole answer has to? Which ones "
        "should stay, its first or its last?",
        "`room = max_length - len(answer)`. If it's less than 1, nothing is left. "
        "Otherwise take the last `room` ids of the prompt. What does `prompt[-0:]` "
        "give?",
    ),
)
def cut_to_fit(
    prompt: list[int], answer: list[int], max_length: int
) -> tuple[list[int], list[int]]:
    """Return ids and labels of at most `max_length`, with the whole answer in them."""
    room = max_length - len(answer)
    if room < 1:
        return [], []
    kept = prompt[-room:]
    return kept + answer, [-100] * len(kept) + answer


def _both(prompt, answer):
    return prompt + answer, [-100] * len(prompt) + answer


cut_to_fit.mistake(
    "you cut on the right, where the end of the answer is, so the model would never "
    "learn to stop.",
    lambda prompt, answer, n: tuple(part[:n] for part in _both(prompt, answer)),
)
cut_to_fit.mistake(
    "you keep a row with no id of the prompt. Then nothing comes before the answer's "
    "first id, or part of the answer is gone. Such a row is dropped.",
    lambda prompt, answer, n: tuple(part[-n:] for part in _both(prompt, answer)),
)
cut_to_fit.mistake(
    "you keep the beginning of the prompt. Keep its end, right before the answer.",
    lambda prompt, answer, n: (
        _both(prompt[: n - len(answer)], answer) if n > len(answer) else ([], [])
    ),
)
cut_to_fit.mistake(
    "you cut the ids and not the labels, so they don't line up any more.",
    lambda prompt, answer, n: (
        (_both(prompt, answer)[0][-n:], _both(prompt, answer)[1])
        if n > len(answer)
        else ([], [])
    ),
)
cut_to_fit.mistake(
    "if there's no room for the prompt, you keep all of it: `prompt[-0:]` is the whole "
    "list.",
    lambda prompt, answer, n: (
        ([], [])
        if n < len(answer)
        else _both(prompt[-(n - len(answer)) :] if n != len(answer) else prompt, answer)
    ),
)
cut_to_fit.mistake(
    "you drop every row that's too long. First shorten its prompt.",
    lambda prompt, answer, n: (
        _both(prompt, answer) if len(prompt + answer) <= n else ([], [])
    ),
)


def _marked_rows(random: Random) -> Iterator[Case]:
    marker = [7, 8]
    yield from (([1, 2, 0], marker, 0), ([7, 8, 1, 0], marker, 0), ([7, 8], marker, 0))
    yield [7, 8, 1, 0, 2, 3, 0], marker, 0
    yield [1, 0, 7, 8, 2, 0, 3, 0, 7, 8, 4, 5, 0], marker, 0
    yield [7, 8, 1, 2], marker, 0
    yield [7, 1, 8, 0, 7, 8, 8, 0], marker, 0
    yield [7, 1, 0, 7, 2, 0], [7], 0
    # Each of the marker's ids is also an id like others, even right before a marker.
    yield [7, 7, 8, 1, 0], marker, 0
    yield [7, 8, 1, 7, 2, 0], marker, 0
    yield [8, 7, 1, 0, 7, 8, 2, 0], marker, 0
    yield [7, 7, 7, 8, 1, 0], [7, 7, 8], 0
    yield [3, 4, 0, 2, 9, 1, 9, 3, 4, 5, 9], [3, 4], 9  # the 0 isn't an end here
    yield [1, 0, 7, 8, 2, 0, 3, 4, 0, 5, 0, 7, 8, 6, 0, 2, 0], marker, 0
    for _ in range(8):
        row = []
        for _ in range(random.randrange(1, 5)):
            row += random.choice(([], marker)) + random.choices(range(1, 7), k=2) + [0]
        yield row, marker, 0


@exercise(
    cases=_marked_rows,
    hints=(
        "Look for the marker at every place. Once you've found it, where does the "
        "answer begin, and what ends it?",
        "Keep a flag that says whether you're in an answer. It goes up after the last "
        "id of a marker, and down after `end_id`. While it's up, the label is the id.",
    ),
)
def labels_after_marker(ids: list[int], marker: list[int], end_id: int) -> list[int]:
    """Return labels: after each marker, everything is scored up to the next end."""
    labels, answering = [], False
    for place, id in enumerate(ids):
        labels.append(id if answering else -100)
        if id == end_id:
            answering = False
        before = place + 1 - len(marker)
        if before >= 0 and ids[before : place + 1] == marker:
            answering = True
    return labels


def _after(ids, marker):
    """The places right after each marker."""
    size = len(marker)
    return [p for p in range(size, len(ids) + 1) if ids[p - size : p] == marker]


def _spans(ids, begins, ends):
    """Labels that are ids from each begin up to its end."""
    labels = [-100] * len(ids)
    for begin, end in zip(begins, ends, strict=True):
        labels[begin:end] = ids[begin:end]
    return labels


def _ends(ids, begins, end_id):
    return [ids.index(end_id, b) + 1 if end_id in ids[b:] else len(ids) for b in begins]


labels_after_marker.mistake(
    "you score only one answer, the first or the last, but every marker begins one.",
    lambda ids, marker, end: _spans(
        ids, _after(ids, marker)[:1], _ends(ids, _after(ids, marker)[:1], end)
    ),
    lambda ids, marker, end: _spans(
        ids, _after(ids, marker)[-1:], _ends(ids, _after(ids, marker)[-1:], end)
    ),
)
labels_after_marker.mistake(
    "you score on, up to the next marker or the end of the row. In between, there may "
    "be turns of a user or a tool. An answer ends with `end_id`.",
    lambda ids, marker, end: _spans(
        ids,
        _after(ids, marker),
        [b - len(marker) for b in _after(ids, marker)[1:]] + [len(ids)]
        if _after(ids, marker)
        else [],
    ),
    lambda ids, marker, end: _spans(
        ids, _after(ids, marker)[:1], [len(ids)] * len(_after(ids, marker)[:1])
    ),
)
labels_after_marker.mistake(
    "you score the marker itself, but the template writes it.",
    lambda ids, marker, end: _spans(
        ids,
        [b - len(marker) for b in _after(ids, marker)],
        _ends(ids, _after(ids, marker), end),
    ),
)
labels_after_marker.mistake(
    "you leave out the end of an answer, so the model would never learn to stop.",
    lambda ids, marker, end: [
        -100 if id == end else label
        for id, label in zip(ids, labels_after_marker(ids, marker, end), strict=True)
    ],
)


def _with_a_counter(ids, marker, end_id):
    """Count how many ids of the marker have come, and begin again where one doesn't."""
    labels, answering, come = [], False, 0
    for id in ids:
        labels.append(id if answering else -100)
        answering = answering and id != end_id
        come = come + 1 if id == marker[come] else 0
        if come == len(marker):
            answering, come = True, 0
    return labels


labels_after_marker.mistake(
    "you give up on a marker as soon as an id doesn't fit, but this id may begin the "
    "marker itself.",
    _with_a_counter,
)
labels_after_marker.mistake(
    "you look only for the first id of the marker.",
    lambda ids, marker, end: labels_after_marker(ids, marker[:1], end),
)


def _parts(random: Random) -> Iterator[Case]:
    no, one, two = [-100, -100, -100], [-100, -100, 5], [-100, 6, 7]
    yield from (([two], 1), ([one, two], 1), ([one, two], 2), ([[4, 5, 6]], 1))
    yield from (([one, two, two], 2), ([no, two], 1), ([no, no, one, two], 2))
    yield from (([[8, 5, -100], two], 1), ([no], 1), ([[9, -100, -100], one], 1))
    for _ in range(8):
        rows = [
            [random.choice((-100, 7)) for _ in range(4)]
            for _ in range(random.randrange(1, 6))
        ]
        yield rows, random.randrange(1, 4)


def _rounded(function, labels: list[list[int]], rows: int) -> list[list[float]]:
    """What an answer returns, in any order of its additions."""
    return [[round(float(n), 9) for n in row] for row in function(labels, rows)]


@exercise(
    cases=_parts,
    view=_rounded,
    hints=(
        "Which labels are targets? Give each of them the weight 1, and then let the "
        "targets of a part share what the part gets.",
        "Every part that has a target gets 1/(number of such parts), and its targets "
        "share that equally. The label at place 0 isn't a target, whatever it is.",
    ),
)
def weights_in_parts(labels: list[list[int]], rows_per_part: int) -> list[list[float]]:
    """Return the weight of each label in a mean of the means of parts."""
    targets = [[0, *(label != -100 for label in row[1:])] for row in labels]
    firsts = range(0, len(labels), rows_per_part)
    counts = [sum(map(sum, targets[f : f + rows_per_part])) for f in firsts]
    parts = sum(count > 0 for count in counts)
    return [
        [float(t and Fraction(1, parts * counts[i // rows_per_part])) for t in row]
        for i, row in enumerate(targets)
    ]


def _weights(labels, rows, *, place_0=False, by_rows=False, empty_parts=False):
    targets = np.array(labels) != -100
    if not place_0:
        targets[:, 0] = False
    firsts = range(0, len(labels), rows)
    parts = [targets[first : first + rows] for first in firsts]
    votes = [len(part) if by_rows else 1 for part in parts]
    total = sum(
        vote
        for vote, part in zip(votes, parts, strict=True)
        if part.any() or empty_parts
    )
    weights = [
        part * vote / max(1, part.sum()) / max(1, total)
        for vote, part in zip(votes, parts, strict=True)
    ]
    return np.concatenate(weights).tolist()


weights_in_parts.mistake(
    "you give a part as many votes as it has rows. Here every part has one vote, even "
    "if the last is smaller.",
    lambda labels, rows: _weights(labels, rows, by_rows=True),
)
weights_in_parts.mistake(
    "you count the label at place 0, but nothing comes before it, so it's never "
    "predicted.",
    lambda labels, rows: _weights(labels, rows, place_0=True),
)
weights_in_parts.mistake(
    "you let a part without a target take its share. It has no mean, so it's left out.",
    lambda labels, rows: _weights(labels, rows, empty_parts=True),
)
weights_in_parts.mistake(
    "you give all targets the same weight, whatever part they're in.",
    lambda labels, rows: _weights(labels, len(labels)),
)
weights_in_parts.mistake(
    "you give each row the same weight, instead of each part.",
    lambda labels, rows: _weights(labels, 1),
)


# Questions


def _masks(random: Random) -> Iterator[Case]:
    yield from (([1, 2, 3], [0, 0, 1]), ([1, 2, 3, 4], [0, 1, 1, 1]), ([5, 6], [0, 1]))
    yield from (([1, 2, 3, 4, 5], [0, 1, 0, 0, 1]), ([1, 2, 3], [0, 0, 0]))
    for _ in range(5):
        ids = random.choices(range(1, 9), k=6)
        yield ids, [0, *random.choices((0, 1), k=5)]


def targets_of_mask(ids: list[int], mask: list[int]) -> list[int]:
    return [id for id, scored in zip(ids, mask, strict=True) if scored]


@bug_or_not(
    purpose=(
        "`mask` has a 1 for each id that the assistant wrote, and 0 at place 0. A "
        "model reads all ids but the last, and its output at place t predicts the id "
        "at t + 1. Return the ids that are scored: all that the assistant wrote."
    ),
    reference=targets_of_mask,
    cases=_masks,
    explanation=(
        "The targets are the ids from place 1 on, so the mask has to move along with "
        "them: `mask[1:]`. With `mask[:-1]`, the target at t + 1 is scored if the id "
        "before it was the assistant's. That leaves out the first token of each "
        "answer, and scores the token after its end. (OpenRLHF, issue 973, reported a "
        "loss that left out the first token of an answer in this way.)"
    ),
)
def mask_without_its_last(ids: list[int], mask: list[int]) -> list[int]:
    targets = ids[1:]
    return [t for t, scored in zip(targets, mask[:-1], strict=True) if scored]


def _losses_in_parts(random: Random) -> Iterator[Case]:
    yield from (
        ([[1.0], [3.0, 5.0]],),
        ([[2.0, 2.0]],),
        ([[1.0], [], [4.0, 4.0, 6.0]],),
    )
    for _ in range(6):
        sizes = [random.randrange(4) for _ in range(3)] + [1]
        yield ([[random.uniform(0, 8) for _ in range(size)] for size in sizes],)


def mean_of_all(parts: list[list[float]]) -> float:
    losses = [loss for part in parts for loss in part]
    return round(sum(losses) / len(losses), 9)


@bug_or_not(
    purpose=(
        "A batch is processed in parts, and each part has the losses of its targets, "
        "perhaps none. Return the mean over all targets of the batch."
    ),
    reference=mean_of_all,
    cases=_losses_in_parts,
    explanation=(
        "Each part adds its sum, divided by the number of targets in the *whole* "
        "batch. So each target has the same weight, in parts of any size, and a part "
        "without targets adds 0 instead of nan. In `Trainer`, a model's loss gets "
        "`num_items_in_batch` for this."
    ),
)
def sums_divided_by_all(parts: list[list[float]]) -> float:
    num_items_in_batch = sum(len(part) for part in parts)
    return round(sum(sum(part) / num_items_in_batch for part in parts), 9)


def _one_model(random: Random) -> Iterator[Case]:
    """The losses of one model, and which of them are of the assistant's tokens."""
    yield from (([4.0, 1.0], [0, 1]), ([2.0, 2.0, 0.5], [0, 1, 1]))
    for _ in range(6):
        losses = [random.uniform(0, 6) for _ in range(8)]
        yield losses, [0, *random.choices((0, 1), k=6), 1]


def validation_with_the_mask(losses: list[float], mask: list[int]) -> float:
    scored = [loss for loss, m in zip(losses, mask, strict=True) if m]
    return round(sum(scored) / len(scored), 6)


@true_or_false(
    claim=(
        "A loader makes the batches for training and for validation. It's mended, and "
        "scores only answers from now on. If the validation loss falls from 0.355 to "
        "0.27, the mended training has made a better model, because one and the same "
        "model would have had the same validation loss before and after."
    ),
    reference=validation_with_the_mask,
    cases=_one_model,
    explanation=(
        "The mend changed the exam as well. One and the same model has one mean over "
        "all tokens, and another over the answers. So the two numbers tell you "
        "nothing about the models. That's how it was in nanochat's pull request 582, "
        "which reports 0.355 and 0.27 bits per byte on validation. Its benchmark, "
        "which is another exam, could tell, with one run of each."
    ),
)
def the_same_exam(losses: list[float], mask: list[int]) -> float:
    return round(sum(losses) / len(losses), 6)
