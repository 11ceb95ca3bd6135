"""Hostile calls of the token ledger."""

import numpy as np
import torch

MANY = {f"row {i}": [i + 5] for i in range(200)}


def targets(ledger):
    return ledger.as_target.tolist()


CALLS = {
    # examples
    "token_ledger([0, 3, 6], 12, [4, 4, 4]) == token_ledger([0, 3, 6], 12, 4)": True,
    "'turns' in str(token_ledger([], 5, 2))": False,
    "list(token_ledger([3, 10], 20, 4).dropped.items())": [("offset", 3), ("gap", 2), ("tail", 5)],
    "targets(token_ledger([], 0, 1))": [],
    "token_ledger([], 3, 5).dropped": {"tail": 3},
    "token_ledger([], 3, 5).mean_context": np.nan,
    "targets(token_ledger(np.array([1], dtype=np.int8), 300, np.int8(120)))": [0, 0] + [1] * 120 + [0] * 178,
    "token_ledger(np.array([70_000], dtype=np.uint32), 80_000, np.int16(2)).dropped": {"offset": 70_000, "tail": 9_997},
    "token_ledger(torch.tensor([[0]]), np.uint8(200), np.uint8(199)).targets": 199,
    "token_ledger([0], 205, 4, reasons=MANY).dropped == {name: 1 for name in MANY}": True,
    "token_ledger([0], 9, 4) == token_ledger([0], 9, 4)": True,
    "token_ledger([0], 9, 4) == token_ledger([1], 9, 4)": False,
    "len({token_ledger([0], 9, 4), token_ledger([0], 9, 4)})": 1,
    "token_ledger([0], 9, 4) == 9": False,
    "token_ledger([0, 5], 9, 4)": ValueError("starts must lie in 0 ... 4: 5 ids"),
    "token_ledger([-1, 0], 9, 4)": ValueError("got -1 ... 0"),
    "token_ledger([2**63 - 1], 99, 4)": ValueError("got 9223372036854775807 ... 9223372036854775807"),
    "token_ledger([0, 2**62], 99, [3, 2**62])": ValueError("starts must lie in nothing at all"),
    "token_ledger([6], 10, 4)": ValueError("starts must lie in 0 ... 5: 5 ids (context_length + 1) are needed"),
    "token_ledger([0], 0, 4)": ValueError("starts must lie in nothing at all"),
    "token_ledger([0], 10, 2**63 - 1)": ValueError("starts must lie in nothing at all"),
    "token_ledger('0', 10, 4)": TypeError("starts must be integers, got text"),
    "token_ledger([0], 10, True)": TypeError("context_length must be"),
    "token_ledger([0, 2], 10, [8, 3])": ValueError("must not lie inside one another, but the one at 2 ends before"),
    "token_ledger([0], 10, 4, reasons={'lost': [-1, 5]})": ValueError("reasons['lost'] must lie in 0 ... 9, got -1"),
    "token_ledger([0], 10, 4, reasons={'lost': [0.5]})": TypeError("reasons['lost'] must be integers, got list of"),
    "token_ledger([0], 10, 4, reasons={'a': [9], None: [9]})": TypeError("a name of reasons must be a str"),
    "token_ledger([0], 10, 4, reasons={'used': []})": ValueError("reasons must not be called 'used'"),
    "token_ledger([0], 4, 4)": ValueError("starts must lie in nothing at all"),
    "token_ledger([0, True], 9, 4)": TypeError("starts must be integers, got list with True or False in it"),
    "token_ledger([0, nan], 9, 4)": TypeError("starts must be integers, got list of float64"),
    "token_ledger(np.array([2**63], dtype=np.uint64), 9, 4)": ValueError("starts must fit into 64-bit"),
    "token_ledger(None, 9, 4)": TypeError("starts must be integers, got NoneType"),
    "token_ledger([0], 9, 2**64)": ValueError("starts must lie in nothing at all"),
    "token_ledger([0], 9, 0)": ValueError("context_length must be"),
    "token_ledger([0], 9, np.array(4)).context_length": 4,
    "token_ledger([0], 9, torch.tensor(4)).context_length": 4,
    "targets(token_ledger([3, 0], 6, np.array([2, 1], dtype=np.int8)))": [0, 1, 0, 0, 1, 1],
    "targets(token_ledger([0, 1, 3], 4, [0, 1, 0]))": [0, 0, 1, 0],
    "token_ledger([], 4, []).dropped": {"tail": 4},
    "token_ledger([0, 1], 9, [4])": ValueError("context_length must be one number, or one for each start"),
    "token_ledger([0, 4], 9, [4, 5])": ValueError("starts must lie in 0 ... 3: 6 ids"),
    "token_ledger([0, 4], 9, [4, -1])": ValueError("context_length must be an integer of at least 0, got -1"),
    "token_ledger([0, 4], 9, [4, True])": TypeError("context_length must be integers"),
    "token_ledger([0, 1], 9, [4, 2])": ValueError("windows must not lie inside one another"),
    "token_ledger([0], 9, '4')": TypeError("context_length must be"),
    "token_ledger([0], 9, 4, reasons={'lost': [8, 9]})": ValueError("reasons['lost'] must lie in 0 ... 8"),
    "token_ledger([0], 9, 4, reasons={'lost': np.ones(9, dtype=bool)})": TypeError("reasons['lost'] must be integers"),
    "token_ledger([0], 9, 4, reasons={'gap': [8]})": ValueError("reasons must not be called 'used', 'offset'"),
    "token_ledger([0], 9, 4, reasons={8: [8]})": TypeError("a name of reasons must be a str"),
    # codes of reasons
    "why_unused(np.array([False, True, False, True, False]), {})[0].tolist()": [1, 0, 2, 0, 3],
    "why_unused(np.zeros(3, dtype=bool), {})[0].tolist()": [3, 3, 3],
    "why_unused(np.zeros(0, dtype=bool), {'lost': []})": (
        np.array([], np.int8),
        ("used", "offset", "lost", "gap", "tail"),
    ),
    "why_unused(np.array([True, False]), {'lost': [0, 1]})[0].tolist()": [0, 2],
    "why_unused(np.array([True]), {'lost': [1]})": ValueError("reasons['lost'] must lie in 0 ... 0, got 1"),
    "why_unused(np.array([True]), {'lost': [0.5]})": TypeError("reasons['lost'] must be integers"),
    "why_unused(np.zeros(205, dtype=bool), MANY)[0].dtype.itemsize": 2,
}
TAKES_NO_DATA = {"TokenLedger": "token_ledger makes it, from what it has checked"}
