"""Calls that a careful reader would not make, and what each function answers: one file a module, one row a call.

    CALLS = {
        "count_windows(-1, 3)": ValueError("num_tokens must be"),  # the error's type, and words of its message
        "count_windows(0, 1)": 0,                                  # or the right answer, NaN equal to NaN
    }

A key is evaluated where the module's names, `np`, `torch`, `nan`, `inf` and what the file itself defines are known.
`TAKES_NO_DATA = {"Name": "why"}` names what needs no rows.
"""
