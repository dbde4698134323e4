"""Plan a skeleton that takes a given time, or say which time can be had."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from skelgen.errors import UsageError
from skelgen.skeleton.thresholds import (
    LARGEST_TARGET_DEVIATION,
    MOST_TIME_CORRECTIONS,
)
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.skeleton.types import Plan


def plan_for_time(
    planned: Callable[[float], Plan], scaling_factor: float, target_s: float | None
) -> Plan:
    """Plan with the K that leads to a time.

    Parameters
    ----------
    planned : callable
        Returns the plan for a K.
    scaling_factor : float
        K to begin with [1].
    target_s : float or None
        Time of the skeleton [s]; None where that K is all that is wanted.

    Raises
    ------
    UsageError
        When no K leads to that time within 15 %.
    """
    for _ in range(1 + MOST_TIME_CORRECTIONS):
        made = planned(scaling_factor)
        if target_s is None:
            return made
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
    assert target_s is not None
    raise UsageError(
        f"--target-time {format_seconds(target_s)} cannot be met: the skeleton would "
        f"take {format_seconds(made.report.expected_s)}; ask for that, or for another K"
    )
