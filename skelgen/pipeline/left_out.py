"""What a skeleton leaves out of the application."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Calls that nothing in a skeleton stands for.

    Attributes
    ----------
    what : str
        Function and reason.
    calls : int
        All ranks.
    time_s : float
        Time inside them, all ranks [s].
    share : float
        Part of the time of all ranks [0 to 1].
    """

    what: str
    calls: int
    time_s: float
    share: float
