"""What keeps a position gets it from its owner, and is asked in test_positions.py."""

CALLS: dict[str, object] = {}
TAKES_NO_DATA = dict.fromkeys(("Position", "check_state"), "see test_positions.py")
