"""Calibrations are measured once on a machine, and kept."""

from __future__ import annotations

import hashlib
import logging
import platform
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from skelgen import _paths
from skelgen.documents import read_json, sealed_json
from skelgen.errors import InputError, UsageError
from skelgen.launch.folders import alone, private_folder, replace_file
from skelgen.launch.process import run
from skelgen.reference.calibration import ComputeCalibration, read_calibration
from skelgen.reference.compiled_program import COMPILER_FLAGS, LONGEST_S
from skelgen.reference.this_machine import cpu_model

logger = logging.getLogger(__name__)


def measured_once(
    compiler: str,
    what: str,
    measure: Callable[[], ComputeCalibration],
    cache: Path | None = None,
) -> ComputeCalibration:
    """Measure a calibration, or return the one that is kept.

    Parameters
    ----------
    compiler : str
        The ``mpicc``. Results are kept for its version and this machine.
    what : str
        What else tells one calibration from another: the program that measures, and
        its numbers.
    measure : callable
        Called where none is kept; it must not ask for another that is kept.
    cache : Path, optional
        Folder that keeps results, default the user's.

    Raises
    ------
    MachineError
        When there is no compiler.
    """
    folder = (cache or _paths.cache()) / "calibrations"
    kept = folder / f"{_key(compiler, what)}.json"
    if (known := _read(kept)) is not None:
        return known
    with suppress(OSError):  # what cannot be kept is measured each time
        private_folder(folder)
    with alone(folder):  # two that measure at a time would both be wrong
        if (known := _read(kept)) is not None:
            return known
        measured = measure()
        _keep(kept, measured)
    return measured


def _key(compiler: str, what: str) -> str:
    version = run([compiler, "--version"], timeout_s=LONGEST_S)
    parts = [platform.node(), cpu_model(), version.output, what, *COMPILER_FLAGS]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _read(path: Path) -> ComputeCalibration | None:
    """Return a kept calibration; None when there is none that can be read."""
    try:
        return read_calibration(read_json(path))
    except InputError as error:
        logger.debug("no kept calibration: %s", error)
        return None


def _keep(path: Path, calibration: ComputeCalibration) -> None:
    """Write a calibration; a cache may fail."""
    try:
        replace_file(path, sealed_json(asdict(calibration)))
    except UsageError as error:
        logger.warning("cannot keep the calibration: %s", error)
