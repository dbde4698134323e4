"""Computation that touches memory as fast, and as much of it, as was recorded."""

from __future__ import annotations

from pathlib import Path

from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.compute import (
    calibrate,
    mixture_took,
    parts_alone,
    program_text,
    with_costs,
)
from skelgen.reference.kept_calibration import measured_once
from skelgen.reference.this_machine import at_a_time
from skelgen.reference.thresholds import LARGEST_SET_BYTES, LEAST_MIX_SHARE

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
    cache : Path, optional
        Folder that keeps results.

    Raises
    ------
    MachineError
        When there is no compiler or it cannot compile.
    """
    processes = at_a_time(processes)
    set_bytes = min(max(set_bytes, _SMALLEST_SET_BYTES), LARGEST_SET_BYTES)
    both = Mix(0.5, 0.5, 0.0, set_bytes)
    steps = bytes_per_us / BYTES_OF_STEP
    # Kept, so that two builds of a recording are the same.
    found = measured_once(
        compiler,
        f"{program_text(both, processes)}\nstreaming {steps:.6g}",
        lambda: _measure(compiler, both, steps, processes),
        cache,
    )
    hardly = found.mix.streaming < LEAST_MIX_SHARE
    return calibrate(compiler, processes=processes, cache=cache) if hardly else found


def _measure(
    compiler: str, both: Mix, steps: float, processes: int
) -> ComputeCalibration:
    """Measure both parts, then the mixture with so many steps of streaming in a us."""
    arithmetic, streaming, _ = parts_alone(compiler, both, processes)
    share = round(min(1.0, steps / streaming), 3)
    if share < LEAST_MIX_SHARE:
        mix, rates = Mix(), (arithmetic, 0.0, 0.0)
    elif 1 - share < LEAST_MIX_SHARE:
        mix = Mix(0.0, 1.0, 0.0, both.working_set_bytes)
        rates = (0.0, streaming, 0.0)
    else:
        mix = Mix(round(1 - share, 3), share, 0.0, both.working_set_bytes)
        rates = ((1 - share) * arithmetic, steps, 0.0)
        # What both take together is set right by arithmetic alone.
        excess = mixture_took(compiler, mix, rates, processes) - 1
        left = max(rates[0] - excess * arithmetic, LEAST_MIX_SHARE * arithmetic)
        rates = (left, steps, 0.0)
    return with_costs(compiler, mix, rates, processes, arithmetic)
