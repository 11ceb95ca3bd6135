"""Hostile calls of what keeps a reader's progress."""

CALLS = {
    # no kernel: nobody is there
    "record_outcome('how many?', 'passed')": None,
    "record_outcome('how many?', '\\ud800', over=('passed',))": None,
}

TAKES_NO_DATA = {
    "kernel_listens": "takes no arguments",
    "progress_file": "takes no arguments",
    "recorded_outcomes": "takes no arguments",
}
