"""Computation that touches memory as fast, and as much of it, as was recorded."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.compute import calibrate, calibrate_once
from skelgen.reference.thresholds import (
    LARGEST_SET_BYTES,
    LEAST_MIX_SHARE,
    SET_SIZES_PER_OCTAVE,
)

#: Streaming goes through one cache line of three arrays in a step [bytes].
BYTES_OF_STEP = 3 * 64
_SMALLEST_SET_BYTES = 1 << 16


def calibrate_touching(
    compiler: str,
    bytes_per_us: float,
    set_bytes: int,
    processes: int,
    *,
    cache: Path | None = None,
) -> ComputeCalibration:
    """Return a mixture that streams as many bytes in each microsecond.

    The rest of the time is arithmetic. The speed of both, half of the time each, is
    measured once for a size of the set, so that two builds of a recording are the same.

    Parameters
    ----------
    compiler : str
        The ``mpicc`` that will compile the skeleton.
    bytes_per_us : float
        Memory that computation touches, for its length [bytes/us].
    set_bytes : int
        The working set of a rank [bytes].
    processes : int
        Ranks on this machine, which share its caches.
    cache : Path, optional
        Folder that keeps results.

    Raises
    ------
    MachineError
        When there is no compiler or it cannot compile.
    """
    both = Mix(0.5, 0.5, 0.0, _size_of(set_bytes))
    alone = calibrate(compiler, processes=processes, cache=cache)
    half = calibrate_once(compiler, both, processes, cache)
    arithmetic = alone.steps_per_us[0]
    # The machine may be slower or faster at the two moments: their ratio is the same.
    streaming = arithmetic * half.steps_per_us[1] / half.steps_per_us[0]
    steps = min(bytes_per_us / BYTES_OF_STEP, streaming)
    share = round(steps / streaming, 3)
    if share < LEAST_MIX_SHARE:
        return alone
    if 1 - share < LEAST_MIX_SHARE:
        share, steps = 1.0, streaming
    rates = (float(f"{(1 - share) * arithmetic:.6g}"), float(f"{steps:.6g}"), 0.0)
    mix = Mix(round(1 - share, 3), share, 0.0, both.working_set_bytes)
    return replace(alone, mix=mix, steps_per_us=rates)


def _size_of(set_bytes: int) -> int:
    """Return the size among those that are measured which is nearest to a set."""
    within = min(max(set_bytes, _SMALLEST_SET_BYTES), LARGEST_SET_BYTES)
    octaves = round(math.log2(within) * SET_SIZES_PER_OCTAVE) / SET_SIZES_PER_OCTAVE
    return round(2**octaves)
