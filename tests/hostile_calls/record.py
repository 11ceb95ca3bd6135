"""Hostile calls of what keeps a reader's progress."""

CALLS = {
    "keep(3, 'passed')": TypeError("name must be a str, got int"),
    "keep(None, 'passed')": TypeError("name must be a str, got NoneType"),
    "keep('how many?', None)": TypeError("outcome must be a str, got NoneType"),
    "keep('how many?', 1.0)": TypeError("outcome must be a str, got float"),
    # no kernel: nobody is there
    "keep('how many?', 'passed')": None,
    "keep('how many?', '\\ud800', over=('passed',))": None,
}

TAKES_NO_DATA = {
    "kernel_listens": "takes no arguments",
    "progress_file": "takes no arguments",
    "kept": "takes no arguments",
}
