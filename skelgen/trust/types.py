"""Types of the trust stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Methods: a skeleton that is a subset of whole matched events, one by the rules of the
#: 2005 paper, which predicts by its rules, too, and the application itself, executed
#: for its phases.
WHOLE_EVENTS, PAPER_2005, PHASES = "whole-events", "paper2005", "phases"


#: Whether other processes had the cores of a prediction's ranks, too.
OWN_CORES, SHARED_CORES = "own", "shared"


@dataclass(frozen=True, slots=True)
class Interval:
    """A quantity with its 90 % interval.

    Attributes
    ----------
    p5, p50, p95 : float
    """

    p5: float
    p50: float
    p95: float

    @property
    def half_width(self) -> float:
        """Return half the interval's width as a share of the median [1]."""
        return (self.p95 - self.p5) / (2 * self.p50)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason why an answer should not be trusted.

    Attributes
    ----------
    code : str
        Names the kind of doubt to scripts, such as ``too-short``; never changes.
    text : str
        What was found and what was expected, in one line.
    remedy : str
        What to do about it, in one line; empty where nothing helps.
    about : str
        Input of a model that it is about; empty where it is about no single one.
    """

    code: str
    text: str
    remedy: str = ""
    about: str = ""

    def __str__(self) -> str:
        return f"{self.text}; {self.remedy}" if self.remedy else self.text


def verdict_of(doubts: Sequence[Doubt]) -> str:
    """Return ``trust`` without doubts, else ``do not trust``."""
    return "do not trust" if doubts else "trust"
