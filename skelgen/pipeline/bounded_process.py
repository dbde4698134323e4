"""Run what somebody waits for in a process of its own, within bounds.

A formula of 1000 characters can cost hours. A thread that computes it cannot be ended,
a process can.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from skelgen.errors import InputError, MachineError, UsageError
from skelgen.launch.bounded_command import (
    ONE_THREAD,
    Bounds,
    EndedBy,
    own_command,
    run_bounded,
)
from skelgen.store import place_of
from skelgen.store.location import STORE_VARIABLE
from skelgen.units import format_seconds

#: Of an answer that somebody waits for: shorter than a request may take.
BOUNDS = Bounds(time_s=20.0, niceness=0)

#: So many at once: others are told to come again, and pages are still answered.
_AT_ONCE = threading.BoundedSemaphore(2)
_PATIENCE_S = 1.0

_SIGNALLED = 128


def run_apart(
    module: str, words: Sequence[str], store: str | None, bounds: Bounds = BOUNDS
) -> str:
    """Run a module of ours with words, and return what it prints.

    Parameters
    ----------
    module : str
    words : sequence of str
        No option among them comes from outside.
    store : str or None
    bounds : Bounds

    Raises
    ------
    UsageError
    InputError
        With its last line of errors; also when it takes too long.
    MachineError
        When others are computed already.
    """
    if not _AT_ONCE.acquire(timeout=_PATIENCE_S):
        raise MachineError(
            "answers for others are being computed; try again in a few seconds"
        )
    try:
        end = run_bounded(
            own_command(module, *words),
            bounds,
            environment={**_place(store), **ONE_THREAD},
            folder=Path("/"),
            began=lambda pid: None,
            said=lambda line: None,
            stop=lambda: False,
        )
    finally:
        _AT_ONCE.release()
    if end.ended_by is not EndedBy.ITSELF or end.exit_code > _SIGNALLED:
        raise InputError(
            f"it took longer than {format_seconds(bounds.time_s)}; ask for less, write "
            "a shorter formula, or use the command line"
        )
    said = end.said
    if end.exit_code == UsageError.exit_code:
        raise UsageError(said)
    if end.exit_code:
        raise InputError(said or "it ended without an answer; report it")
    return end.output.decode("utf-8", "replace")


def _place(store: str | None) -> dict[str, str]:
    if not store:
        return {}
    found = place_of(store)
    where = found.where if found.is_url else str(Path(found.where).absolute())
    return {STORE_VARIABLE: where}  # a password in it is in no list of processes
