"""Hostile calls of executors: how many, and what is none of them."""

from concurrent.futures import ThreadPoolExecutor

from course_lib.foundation.executors import InThisProcess, run_in_order


def ordered(*arguments, **options):
    return list(run_in_order(*arguments, **options))


CALLS = {
    "ordered(abs, [], InThisProcess)": [],
    "ordered(abs, iter([-1, -2]), InThisProcess())": [1, 2],
    "ordered(abs, [-1], None)": TypeError("make_executor must be an executor or make one, got NoneType"),
    "ordered(abs, [-1], 2)": TypeError("make_executor must be an executor or make one, got int"),
    "ordered(abs, ['a'], InThisProcess)": TypeError("bad operand"),
    "list(run_in_order(abs, [-1], InThisProcess))": [1],
    "list(run_in_order(abs, [-1], ThreadPoolExecutor))": [1],
    "InThisProcess().submit(abs, -3).result()": 3,
    "InThisProcess().submit(abs, 'a').result()": TypeError("bad operand"),
}

TAKES_NO_DATA = {
    "process_context": "it takes no arguments",
    "end_with_parent": "it takes no arguments",
    "import_ray": "it takes no arguments",
    "RayExecutor": "it hands its arguments to Ray, which may be missing",
}
