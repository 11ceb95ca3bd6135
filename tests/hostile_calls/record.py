"""Hostile calls of what keeps a reader's progress."""

CALLS = {
    # no kernel: nobody is there
    "keep('how many?', 'passed')": None,
    "keep('how many?', '\\ud800', over=('passed',))": None,
}

TAKES_NO_DATA = {
    "kernel_listens": "takes no arguments",
    "progress_file": "takes no arguments",
    "kept": "takes no arguments",
}
