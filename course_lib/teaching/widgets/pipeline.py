"""Any text through a tokenizer, stage by stage (lesson 7)."""

import functools
import json

from tokenizers import Tokenizer

from course_lib.bpe import BYTE_CHARACTERS
from course_lib.foundation import Text, checked
from course_lib.teaching.plots.letters import signs
from course_lib.teaching.plots.tables import Table
from course_lib.teaching.plots.tokenizations import TokenRows
from course_lib.teaching.widgets.player import Html, Player, TextControl, stacked
from course_lib.teaching.widgets.windows import counted

FEW = (
    "The cat, the hat and the catalogue",
    "ﬁve cafés, Ｆｕｌｌ width and ½",
    "1066, 3.14159 and 2,000,000",
    "I'll say we've said they're here",
    "A 😀 and 漢字, unknown here",
    "tabs\tand  two  spaces ",
)
BYTE_OF = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


def play_pipeline(
    tokenizer: Tokenizer, text: str = "Dr. O'Neil can't say: 4.25  is  café."
) -> Player:
    """Play with a text that goes through all stages of a tokenizer."""
    if not isinstance(tokenizer, Tokenizer):
        got = f"{type(tokenizer).__name__}: build_tokenizer makes one"
        raise TypeError(f"tokenizer must be a tokenizers.Tokenizer, got {got}")
    draw = functools.partial(draw_pipeline, tokenizer)
    return Player(draw, {"text": TextControl("text", 160, FEW)}, text=text)


@checked
def draw_pipeline(tokenizer: Tokenizer, text: Text) -> Html:
    """Show what each stage makes of a text, and where each of its tokens comes from."""
    # this lesson loads `transformers`, for which no other lesson should wait
    from course_lib.tokenizer_pipeline import cut

    normal, pre = text, tokenizer.pre_tokenizer
    if tokenizer.normalizer is not None:
        normal = tokenizer.normalizer.normalize_str(text)
    pieces = [normal] if pre is None else cut(pre, normal)
    encoding = tokenizer.encode(text)
    tokens = dict(zip(encoding.ids, encoding.tokens, strict=True))
    added = tokenizer.get_added_tokens_decoder()
    spelled = {
        number: name if number in added else _as_bytes(name)
        for number, name in tokens.items()
    }
    stages = {"text": [text], "normalized": [normal]}
    stages[counted(len(pieces), "piece")] = pieces
    stages[counted(len(encoding.ids), "token")] = [spelled[n] for n in encoding.ids]
    makers = _makers(tokenizer)
    rows = []
    for number, name in tokens.items():
        spelling = spelled[number]
        written = spelling.hex(" ").upper() if isinstance(spelling, bytes) else ""
        rows.append([name, number, written, makers.get(name, "alphabet")])
    header = ["token", "id", "bytes", "made by"]
    decoded = tokenizer.decode(encoding.ids)
    words = "Decoded, it is the normalized text again."
    if decoded != normal:
        words = f"Decoded, it is another text: {signs(decoded)}"
    table = Table(rows, header, align="<><<", caption="each token once")
    made_by = {spelled[n]: makers.get(name, "alphabet") for n, name in tokens.items()}
    return stacked(TokenRows(stages, counted=False, makers=made_by), table, words)


def _as_bytes(token: str) -> str | bytes:
    """What a token of a byte-level model spells; any other is its own name."""
    if all(character in BYTE_OF for character in token):
        return bytes(map(BYTE_OF.__getitem__, token))
    return token


def _makers(tokenizer: Tokenizer) -> dict[str, str]:
    """Token to what made it: a merge, with its number and parts, or a name alone."""
    model = json.loads(tokenizer.to_str())["model"]
    makers = {}
    for number, pair in enumerate(model.get("merges", ()), start=1):
        left, right = pair.split(" ") if isinstance(pair, str) else pair
        # a mark of the model is between two parts, but not within what they make
        mark = model.get("continuing_subword_prefix") or ""
        made = left + right.removeprefix(mark)
        makers.setdefault(made, f"merge {number:,}: {left} + {right}")
    for added in tokenizer.get_added_tokens_decoder().values():
        makers[added.content] = "special: a name, no text"
    return makers
