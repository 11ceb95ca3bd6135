"""Hostile calls of an auditor's parts: loaders that are none have their rows with `audit_loader`."""

import numpy as np

NAMES = """tabulate Reading goes_forward where ledger_of count_turns"""
TAKES_NO_DATA = dict.fromkeys(NAMES.split(), "a table of what audit_loader has read")
CALLS = {
    "len(Reading(5).table)": 0,
    "Reading(5).firsts": np.zeros(0),
}
