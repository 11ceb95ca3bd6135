"""Hostile calls of an auditor's parts: loaders that are none have their rows with `audit_loader`."""

NAMES = """Finding Findings find_in_rows windows_of find_repeats find_again strides_of find_overlaps
find_overlaps_in_turns
find_steps find_same_order find_weak_shuffle find_lost judge_lost log_orders step_of missing_rows ledger_length tails
epochs_to_decide commonest_stride find_unrepeatable find_resumed find_resumed_elsewhere
runs run counted_targets such_as left_over"""
TAKES_NO_DATA = dict.fromkeys(NAMES.split(), "a question to what audit_loader has read, asked in test_findings.py")
CALLS = {
    "Finding('lost', 3, 'ids 4 ... 6').count": 3,
    "Finding('lost', 3)": TypeError("evidence"),
}
