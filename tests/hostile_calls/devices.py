"""Hostile calls of copying to a device."""

import torch

PAIR = (torch.tensor([1]), torch.tensor([2]))

CALLS = {
    # examples
    "list(copy_to_device([], 'cpu'))": [],
    "list(copy_to_device([PAIR], 'cpu', ahead=10))": [(torch.tensor([1]).numpy(), torch.tensor([2]).numpy())],
    "len(list(CopiedBatches([PAIR] * 3, torch.device('cpu'), 0)))": 3,
    "CopiedBatches([PAIR], torch.device('cpu'), 0).state_dict()": TypeError("batches must be a loader"),
    "copy_to_device([PAIR], 'graphics card')": RuntimeError("graphics"),
    "copy_to_device([PAIR], 1.5)": TypeError("device"),
}
if not torch.cuda.is_available():
    CALLS["copy_to_device([PAIR], 'cuda')"] = ValueError("finds no CUDA device")
