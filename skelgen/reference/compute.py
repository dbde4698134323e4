"""Calibrate the compute operation of skeletons on the reference machine.

The operation is fixed work: how many steps of arithmetic, streaming and pointer
chasing stand for a microsecond of the application's computation is measured here
once, and the numbers become part of the skeleton's text. They are never measured
again on a target, which would erase the difference that is to be predicted.
"""

from __future__ import annotations

import logging
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from skelgen.reference.calibration import (
    MIX_PARTS,
    ComputeCalibration,
    Mix,
    QueryGap,
)
from skelgen.reference.compiled_program import checked, compiled
from skelgen.reference.kept_calibration import measured_once
from skelgen.reference.this_machine import at_a_time, cpu_model
from skelgen.rendering.c_template import fill

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ComputeNumbers:
    """The numbers of ``compute.c.j2``, as text; empty for a part that is not used."""

    arithmetic: str
    streaming: str
    chasing: str
    call: str
    clock: str
    set_bytes: int
    reference: str
    query: str = ""
    query_gaps: tuple[tuple[str, str, int], ...] = ()

    @classmethod
    def of(
        cls,
        calibration: ComputeCalibration,
        query_gaps: Sequence[QueryGap] = (),
    ) -> ComputeNumbers:
        """Write the numbers of a calibration.

        Parameters
        ----------
        calibration : ComputeCalibration
        query_gaps : sequence of QueryGap
            How far apart the computation asks for its CPU time; none where it does not.
        """
        arithmetic, streaming, chasing = map(_rate, calibration.steps_per_us)
        processes = calibration.processes
        return cls(
            arithmetic=arithmetic,
            streaming=streaming,
            chasing=chasing,
            call=f"{calibration.call_us:.4f}",
            clock=f"{calibration.clock_us:.4f}",
            set_bytes=calibration.mix.working_set_bytes,
            reference=f"{calibration.cpu}, {processes} process"
            + ("es" if processes > 1 else ""),
            query=f"{calibration.query_us:.4f}",
            query_gaps=tuple(
                (f"{gap.length_us:.3f}", f"{gap.part:.6f}", int(gap.asks))
                for gap in query_gaps
            ),
        )


def _rate(steps_per_us: float) -> str:
    """Write a rate as a C floating constant; "" for none."""
    text = f"{steps_per_us:.6g}" if steps_per_us else ""
    return text if not text or set(text) & set(".e") else f"{text}.0"


def calibrate(
    compiler: Path | str,
    *,
    mix: Mix | None = None,
    processes: int = 1,
    cache: Path | None = None,
) -> ComputeCalibration:
    """Measure the compute operation on this machine; plain arithmetic once.

    The operation is compiled from the template that skeletons use, with the same
    options, and measured in as many processes at a time as the application had
    ranks here, because they share caches and the clock frequency.

    Parameters
    ----------
    compiler : Path or str
        The ``mpicc`` that will compile the skeleton.
    mix : Mix, optional
        What computation consists of, default arithmetic only.
    processes : int
        Ranks on this machine.
    cache : Path, optional
        Folder that keeps results of arithmetic, by machine and compiler.

    Raises
    ------
    MachineError
        When there is no compiler or it cannot compile.
    """
    mix = mix or Mix()
    if mix.arithmetic < 1:
        # Streaming and chasing go as fast as what else uses memory lets them now.
        return measure(str(compiler), mix, at_a_time(processes))
    return calibrate_once(str(compiler), mix, processes, cache)


def calibrate_once(
    compiler: str, mix: Mix, processes: int, cache: Path | None = None
) -> ComputeCalibration:
    """Measure a mix, or return what is kept of it on this machine.

    Parameters
    ----------
    compiler, mix, processes, cache
        As for `calibrate`.

    Raises
    ------
    MachineError
        When there is no compiler or it cannot compile.
    """
    processes = at_a_time(processes)
    program = _source(unmeasured(mix, processes))
    return measured_once(
        compiler, program, lambda: measure(compiler, mix, processes), cache
    )


def unmeasured(mix: Mix, processes: int) -> ComputeCalibration:
    """Return a calibration of one step a microsecond, to measure with."""
    arithmetic, streaming, chasing = (1.0 if share else 0.0 for share in mix.shares)
    rates = (arithmetic, streaming, chasing)
    return ComputeCalibration(
        mix, rates, 0.0, 0.0, processes, platform.node(), cpu_model()
    )


def _source(calibration: ComputeCalibration) -> str:
    return fill(
        "calibrate.c.j2",
        work=ComputeNumbers.of(calibration),
        processes=calibration.processes,
    )


def measure(compiler: str, mix: Mix, processes: int) -> ComputeCalibration:
    """Measure the parts alone, then correct them by what the mixture takes.

    Parameters
    ----------
    compiler : str
        The ``mpicc``.
    mix : Mix
    processes : int
        So many measure at the same time.

    Raises
    ------
    MachineError
        When there is no compiler or it cannot compile.
    """
    blank = unmeasured(mix, processes)
    logger.info("calibrating computation with %d processes", processes)
    alone = _results(compiler, blank)[: len(MIX_PARTS)]
    rates = [share * rate for share, rate in zip(mix.shares, alone, strict=True)]
    mixed = max(mix.shares) < 1
    took = _results(compiler, _with(blank, rates))[len(MIX_PARTS)] if mixed else 1.0
    # The cost of a call shows with arithmetic only: other parts overlap.
    arithmetic = (alone[0] or 500.0, 0.0, 0.0)
    plain = replace(blank, mix=Mix(), steps_per_us=arithmetic)
    *_, call_us, clock_us, query_us = _results(compiler, plain)
    costs = max(call_us, 0.0), max(clock_us, 0.0), query_us
    return _with(blank, [rate / took for rate in rates], *costs)


def _with(
    blank: ComputeCalibration,
    rates: Sequence[float],
    call_us: float = 0.0,
    clock_us: float = 0.0,
    query_us: float = 0.0,
) -> ComputeCalibration:
    arithmetic, streaming, chasing = (float(f"{rate:.6g}") for rate in rates)
    return ComputeCalibration(
        blank.mix,
        (arithmetic, streaming, chasing),
        round(call_us, 4),
        round(clock_us, 4),
        blank.processes,
        blank.host,
        blank.cpu,
        round(query_us, 4),
    )


def _results(compiler: str, calibration: ComputeCalibration) -> list[float]:
    """Compile and run the calibration; return the median of the processes."""
    with compiled(compiler, _source(calibration)) as program:
        rows = [line.split() for line in checked(str(program)).splitlines()]
    return [float(value) for value in np.median(np.array(rows, float), axis=0)]
