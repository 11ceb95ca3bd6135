"""How far a mean of a few runs can be trusted: one interval for all lessons.

Runs differ by chance: in their seeds, and in the split or the part of a text that they
got. Two ways to train are compared run by run, so that what both have in common cancels
in the difference, and the interval is that of the differences.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from course_lib.foundation.arguments import Length, checked
from course_lib.foundation.checks import as_numbers

# Student's t, two-sided 95 %, for 1 ... 30 degrees of freedom.
T_QUANTILES = (
    *(12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281),
    *(2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860),
    *(2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423),
)


class Interval(NamedTuple):
    """A mean and the half-width of its 95 % confidence interval.

    In an f-string it is written as in the lessons: `f"{interval:.2f}"` gives
    "3.20 [2.95, 3.45]".
    """

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width

    @property
    def excludes_zero(self) -> bool:
        """Whether all of the interval is above 0, or all of it below: the course's one
        rule for calling a difference clear. Equal values, whose interval has no width,
        never make it clear: they have more likely come from the same seed."""
        has_width = self.half_width > 1e-9 * abs(self.mean)  # more than rounding
        return has_width and (self.low > 0 or self.high < 0)

    def __format__(self, spec: str) -> str:
        texts = (format(x, spec) for x in (self.mean, self.low, self.high))
        zero, below = format(0.0, spec), format(-0.0, spec)  # nobody reads -0.00
        mean, low, high = (zero if text == below else text for text in texts)
        return f"{mean} [{low}, {high}]"


def confidence_interval(values: object) -> Interval:
    """Return the mean of independent runs, with its 95 % confidence interval.

    The half-width is t * s / sqrt(n), where s is the sample standard deviation and t is
    the quantile of Student's distribution for n - 1 degrees of freedom. For five runs
    that is 2.78. The normal distribution would give 1.96, and promise too much.

    To compare two ways whose run i shares a seed or a split, give the differences, run
    by run: `confidence_interval(ours - theirs)`.

    Args:
        values: one number for each run, shape (n,), with n at least 2.
    """
    values = as_numbers("values", values)
    if values.ndim != 1 or len(values) < 2:
        needed = "one number for each of at least 2 runs"
        raise ValueError(f"values must be {needed}, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"values must be finite, got {values}")
    standard_error = values.std(ddof=1) / math.sqrt(len(values))
    half_width = t_quantile(len(values) - 1) * standard_error
    return Interval(float(values.mean()), float(half_width))


@checked
def t_quantile(degrees_of_freedom: Length) -> float:
    """Return the two-sided 95 % quantile of Student's t, to three decimals.

    Beyond the table we use the expansion in 1 / degrees around the normal quantile
    (Abramowitz and Stegun, 26.7.5).
    """
    if degrees_of_freedom <= len(T_QUANTILES):
        return T_QUANTILES[degrees_of_freedom - 1]
    z = 1.959964
    return (
        z
        + (z**3 + z) / (4 * degrees_of_freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees_of_freedom**2)
    )
