"""Plan a skeleton that takes a given time, or say which time can be had."""

from __future__ import annotations

from collections.abc import Callable

from skelgen.errors import UsageError
from skelgen.skeleton.thresholds import LARGEST_TARGET_DEVIATION
from skelgen.skeleton.types import Plan
from skelgen.units import format_seconds

#: K is corrected so often by what it led to. It bounds the time of a build.
_MOST_CORRECTIONS = 3


def plan_for_time(
    planned: Callable[[float], Plan], application_s: float, target_s: float
) -> Plan:
    """Plan with the K that leads to a time.

    Parameters
    ----------
    planned : callable
        Returns the plan for a K.
    application_s : float
        Time of the recorded run [s].
    target_s : float
        Time of the skeleton, shorter than that [s].

    Raises
    ------
    UsageError
        When no K leads to that time within 15 %.
    """
    scaling_factor = application_s / target_s
    for _ in range(1 + _MOST_CORRECTIONS):
        made = planned(scaling_factor)
        off = made.report.expected_s / target_s
        if abs(off - 1) <= LARGEST_TARGET_DEVIATION:
            return made
        shortest_s = made.report.fixed_s / LARGEST_TARGET_DEVIATION
        if shortest_s > target_s:
            raise UsageError(
                f"--target-time {format_seconds(target_s)} cannot be met: the calls "
                "that stay take too long; the shortest skeleton takes "
                f"{format_seconds(shortest_s)}"
            )
        if scaling_factor * off <= 1:
            break
        scaling_factor *= off
    raise UsageError(
        f"--target-time {format_seconds(target_s)} cannot be met: the skeleton would "
        f"take {format_seconds(made.report.expected_s)}; ask for that, or for another K"
    )
