"""Byte-pair encoding of a text of one's own, merge by merge (lesson 6)."""

from course_lib.bpe import BPETokenizer, count_words, merge_pair, pair_counts, printable
from course_lib.teaching.plots.tables import Table
from course_lib.teaching.plots.tokenizations import TokenRows, makers_of
from course_lib.teaching.widgets.player import (
    Html,
    IntegerControl,
    Player,
    TextControl,
    stacked,
)
from course_lib.teaching.widgets.windows import counted

LISTED = 8
FIRST_ID = 256
FEW = (
    "the theme of these thirty-three threads",
    "banana bandana banana",
    "aaaaaaaa aaaa aa a",
    "1,000 2,000 and 3,000 are 6,000",
    "été, l'été, en été: 😀 😀",
)
CONTROLS = {
    "text": TextControl("text", 160, FEW),
    "num_merges": IntegerControl("merges", 0, 20),
}


def play_merges(
    text: str = "the theme of these thirty-three threads", num_merges: int = 3
) -> Player:
    """Play with a text and the number of merges that are learned from it."""
    return Player(draw_merges, CONTROLS, text=text, num_merges=num_merges)


def draw_merges(text: str, num_merges: int) -> Html:
    """Show a text in pieces, before and after so many merges, and the last of them."""
    if not text.strip():
        raise ValueError("text must be more than spaces, or there is nothing to merge")
    learned = list(BPETokenizer.train(text, FIRST_ID + num_merges).merges)
    rows = {}
    for count in sorted({0, max(0, len(learned) - 1), len(learned)}):
        tokenizer = BPETokenizer(learned[:count])
        tokens = [tokenizer.token_bytes[token] for token in tokenizer.encode(text)]
        rows[f"after {counted(count, 'merge')}" if count else "bytes"] = tokens
    pieces = TokenRows(rows, makers=makers_of(learned))
    if len(learned) < num_merges:
        words = f"No more than {counted(len(learned), 'merge')}: no pair occurs twice."
    else:
        words = f"{counted(len(learned), 'merge')}, learned from this text alone."
    listed = _listed(text, learned)
    shown = f"the last {len(listed)} of them" if len(listed) > 1 else "the last of them"
    header = ["merge", "pair", "times", "new token", "id"]
    if not listed:
        return stacked(pieces, words)
    return stacked(pieces, words, Table(listed, header, align=">>>>>", caption=shown))


def _listed(text: str, learned: list[tuple[int, int]]) -> list[list[object]]:
    words, spelled = count_words([text]), BPETokenizer(learned).token_bytes
    rows = []
    for number, pair in enumerate(learned):
        times, new_id = pair_counts(words)[pair], FIRST_ID + number
        left, right, both = (printable(spelled[token]) for token in (*pair, new_id))
        rows.append([number + 1, f"{left} + {right}", times, both, new_id])
        merged = (tuple(merge_pair(ids, pair, new_id)) for ids in words)
        words = dict(zip(merged, words.values(), strict=True))
    return rows[-LISTED:]
