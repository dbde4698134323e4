"""Computation that touches memory as fast, and as much of it, as was recorded."""

from __future__ import annotations

from skelgen.reference.compute import (
    ComputeCalibration,
    Mix,
    calibrate,
    mixture_took,
    parts_alone,
    with_costs,
)
from skelgen.reference.this_machine import at_a_time
from skelgen.reference.thresholds import LARGEST_SET_BYTES, LEAST_MIX_SHARE

#: Streaming goes through one cache line of three arrays in a step [bytes].
BYTES_OF_STEP = 3 * 64
_SMALLEST_SET_BYTES = 1 << 16


def calibrate_touching(
    compiler: str, bytes_per_us: float, set_bytes: int, processes: int
) -> ComputeCalibration:
    """Measure a mixture that streams as many bytes in each microsecond.

    The rest of the time is arithmetic. Streaming is given in steps and not as a share
    of the time: how long it takes here depends on what else uses memory now.

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

    Raises
    ------
    MachineError
        When there is no compiler or it cannot compile.
    """
    processes = at_a_time(processes)
    set_bytes = min(max(set_bytes, _SMALLEST_SET_BYTES), LARGEST_SET_BYTES)
    both = Mix(0.5, 0.5, 0.0, set_bytes)
    arithmetic, streaming, _ = parts_alone(compiler, both, processes)
    steps = bytes_per_us / BYTES_OF_STEP
    share = round(min(1.0, steps / streaming), 3)
    mix = Mix(round(1 - share, 3), share, 0.0, set_bytes)
    if share < LEAST_MIX_SHARE:
        return calibrate(compiler, processes=processes)
    if mix.arithmetic < LEAST_MIX_SHARE:
        all_streaming = Mix(0.0, 1.0, 0.0, set_bytes)
        return calibrate(compiler, mix=all_streaming, processes=processes)
    rates = ((1 - share) * arithmetic, steps, 0.0)
    # What both take together is set right by arithmetic alone.
    excess = mixture_took(compiler, mix, rates, processes) - 1
    left = max(rates[0] - excess * arithmetic, LEAST_MIX_SHARE * arithmetic)
    return with_costs(compiler, mix, (left, steps, 0.0), processes, arithmetic)
