"""Traces that are written as text, with times and threads of their calls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skelgen.events import Events
from tests.builders import events


def timed(text: str, *times: str) -> Events:
    """Read a trace of calls, and when each was entered and left.

    Parameters
    ----------
    text : str
        In the format of `tests.builders`.
    *times : str
        Of each rank, as ``0 10; 20 60``. In front of each pair may be a thread.
    """
    found = events(text)
    rows = [word.split() for rank in times for word in rank.split(";")]
    *threads, enter, leave = np.array(rows, np.int64).T
    if threads:
        found = replace(found, threads=threads[0].astype(np.uint16))
    return replace(found, enter_ns=enter, leave_ns=leave)


def names(found: Events) -> list[list[str]]:
    """Return the functions that each rank calls, without ``MPI_``."""
    calls = found.calls
    every = [calls.functions[n][4:] for n in calls.shapes["function"][calls.shape]]
    return [every[a:b] for a, b in zip(calls.first[:-1], calls.first[1:], strict=True)]
