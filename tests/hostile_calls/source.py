"""Hostile calls of what shows source code."""

import functools

from course_lib.foundation import check_integer
from course_lib.teaching.source import source_of


def shown(thing):
    return source_of(thing).splitlines()[0]


CALLS = {
    "show_source('count_windows')": TypeError("things must be functions or classes, got str"),
    "show_source(functools)": TypeError("things must be functions or classes, got module"),
    "show_source(functools.partial.__call__)": TypeError("things must be written in Python, got "),
    "show_source(None)": TypeError("things must be functions or classes, got NoneType"),
    "show_source(len)": TypeError("things must be written in Python, got len"),
    "show_source(int, full=True)": TypeError("things must be written in Python, got int"),
    "show_source(source_of, full='no')": TypeError("full"),
    "show_source()": None,
    "source_of(5)": TypeError("things must be functions or classes, got int"),
    "source_of(np.add)": TypeError("things must be written in Python, got add"),
    "source_of(functools.partial(check_integer, 'n'))": TypeError("things must be written in Python, got partial"),
    "shown(functools.lru_cache(shown))": "def shown(thing):",
    "shown(functools.cached_property)": "class cached_property:",
}
