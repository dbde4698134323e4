"""When an interval or what was not measured makes an answer doubtful."""

from __future__ import annotations

from skelgen.trust.thresholds import (
    LARGEST_HALF_WIDTH,
    LARGEST_UNMEASURED_SHARE,
)
from skelgen.trust.types import Doubt, Interval


def too_wide(
    measured: Interval, remedy: str, *, bound: float = LARGEST_HALF_WIDTH
) -> tuple[Doubt, ...]:
    """Doubt an interval that more measuring would make narrower.

    Parameters
    ----------
    measured : Interval
        Without the error of the method, which no further run makes smaller.
    remedy : str
    bound : float
        Largest half width that is trusted [1].
    """
    half_width = measured.half_width
    if half_width <= bound:
        return ()
    text = (
        f"the interval is too wide: {half_width:.1%} to both sides, at most "
        f"{bound:.1%} is trusted"
    )
    return (Doubt("interval-too-wide", text, remedy),)


def unmeasured(share: float, what: str, remedy: str) -> tuple[Doubt, ...]:
    """Doubt an answer of which too much was not measured.

    Parameters
    ----------
    share : float
        Of the application's time [0 to 1].
    what : str
        Says which part it is, and why; ``{share}`` stands for the share.
    remedy : str
    """
    if share <= LARGEST_UNMEASURED_SHARE:
        return ()
    text = what.format(share=f"{share:.0%}")
    text += f" (at most {LARGEST_UNMEASURED_SHARE:.0%} is trusted)"
    return (Doubt("not-measured", text, remedy),)
