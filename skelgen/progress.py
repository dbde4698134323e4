"""Progress of long work, shown only where a person is looking."""

from __future__ import annotations

import math
import re
from typing import Protocol

#: Logging level of what users should know while they wait.
NOTE = 25

#: Asks for progress as lines on stderr where its value is `LINES`.
VARIABLE, LINES = "SKELGEN_PROGRESS", "lines"

_LINE = re.compile(r"skelgen: progress: (.{1,200}?)(?:: ([\d.e+]+) of ([\d.e+]+))?")


class Progress(Protocol):
    """Receives how far a long piece of work has come."""

    def start(self, what: str, total: float) -> None:
        """Begin a piece of work of `total` units (0 when unknown)."""

    def advance(self, amount: float) -> None:
        """Report `amount` further units as done."""

    def say(self, found: str) -> None:
        """Show what the piece of work found so far, in place of what it said before."""

    def finish(self) -> None:
        """End the piece of work that was started last."""


class _NoProgress:
    """Show nothing."""

    def start(self, what: str, total: float) -> None:
        """Ignore the start."""

    def advance(self, amount: float) -> None:
        """Ignore the step."""

    def say(self, found: str) -> None:
        """Ignore what was found."""

    def finish(self) -> None:
        """Ignore the end."""


NO_PROGRESS: Progress = _NoProgress()


def progress_line(what: str, done: float, total: float) -> str:
    """Write progress as a line for another program.

    Examples
    --------
    >>> progress_line("comparing families", 3, 17)
    'skelgen: progress: comparing families: 3 of 17'
    """
    shown = f": {done:g} of {total:g}" if total else ""
    return f"skelgen: progress: {what}{shown}"


def read_progress(line: str) -> tuple[str, float] | None:
    """Read a line of progress: in words, and the share that is done or nan.

    None where it is another line.

    Examples
    --------
    >>> read_progress("skelgen: progress: comparing families: 3 of 12")
    ('comparing families: 3 of 12', 0.25)
    """
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    what, done, total = found.groups()
    if done is None:
        return what, math.nan
    try:
        share = float(done) / float(total)
    except (ValueError, ZeroDivisionError):
        return what, math.nan
    return f"{what}: {done} of {total}", min(share, 1.0)
