"""The computations between calls of a run on this machine, on this machine's clock."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError, UsageError
from skelgen.events import Events, collect
from skelgen.events.clock import monotonic_origin_ns
from skelgen.events.parts import rank_slices
from skelgen.keys import mixed
from skelgen.reference.turns import GAP_DTYPE
from skelgen.trace import RankFile, open_trace


def gaps_here(folder: Path) -> NDArray[np.void]:
    """Return the computations of a run whose ranks ran on this machine.

    Times are those of ``CLOCK_MONOTONIC``.

    Raises
    ------
    UsageError
        When ranks ran elsewhere.
    InputError
        When they computed nothing.
    """
    trace = open_trace(folder)
    check_here(trace.files)
    found = gaps_of(collect(trace))
    if not found["cpu_ns"].any():
        raise InputError("the application does not compute between its MPI calls")
    origin_ns = monotonic_origin_ns(trace.files)
    for name in ("begin_ns", "end_ns"):
        found[name] += origin_ns
    return found


def check_here(files: Sequence[RankFile]) -> None:
    """Refuse a run of which ranks were on other machines.

    Raises
    ------
    UsageError
    """
    if elsewhere := {file.header.host for file in files} - {platform.node()}:
        raise UsageError(
            f"ranks ran on {', '.join(sorted(elsewhere))}, where nothing competes with "
            "them; give a launch on this machine only after --"
        )


def gaps_of(events: Events) -> NDArray[np.void]:
    """Return the computations before the calls of all ranks, on the clock of the trace.

    Those of a rank that lie between the same two places of the program, and before
    calls with about as many bytes, have one leaf: levels of a grid differ.

    Parameters
    ----------
    events : Events

    Returns
    -------
    (n,) GAP_DTYPE array
        Those that took any time.
    """
    calls = events.calls
    found = np.zeros(len(calls), GAP_DTYPE)
    shapes = calls.shapes[calls.shape]
    place = mixed(shapes["site"].astype(np.int64) << 16 | shapes["function"])
    size = np.log2(np.maximum(calls.size_bytes, 0) + 1.0).astype(np.int64)
    for rank, own in enumerate(rank_slices(calls.first)):
        if own.start == own.stop:
            continue
        mine = found[own]
        mine["end_ns"] = events.enter_ns[own]
        mine["begin_ns"][1:] = events.leave_ns[own][:-1]
        mine["begin_ns"][0] = events.begin_ns[rank]
        before = np.append(np.zeros(1, place.dtype), place[own][:-1])
        key = mixed(place[own].astype(np.int64) ^ rank) + mixed(before.astype(np.int64))
        mine["leaf"] = (key + mixed(size[own] + 1)).astype(np.int64)
    found["cpu_ns"] = events.compute_ns
    return found[found["cpu_ns"] > 0]
