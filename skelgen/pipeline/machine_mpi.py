"""Which MPI of this machine stands for the one of a recording, and its speed."""

from __future__ import annotations

import logging
from pathlib import Path

from skelgen.errors import MachineError
from skelgen.events.touched_memory import Touched
from skelgen.launch.mpi import MpiKind, find_mpi, kind_of
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.compute import calibrate
from skelgen.reference.touched_mix import calibrate_touching
from skelgen.signature import Signature

logger = logging.getLogger(__name__)


def reference_compiler(library: str) -> Path:
    """Return the mpicc that measures the computation of a skeleton.

    The speed of computation is the compiler's, not the MPI's, so another MPI than the
    recorded one will do.

    Raises
    ------
    MachineError
        When there is no mpicc.
    """
    kinds = [kind_of(library), MpiKind.MPICH, MpiKind.OPEN_MPI]
    for kind in dict.fromkeys(kind for kind in kinds if kind is not MpiKind.UNKNOWN):
        try:
            compiler = find_mpi(kind).compiler
        except MachineError as error:
            logger.debug("%s", error)
            continue
        if compiler is not None:
            return compiler
    raise MachineError(
        "no mpicc on PATH, which measures how fast this machine computes; install an "
        "MPI with its compiler, for instance with: pip install mpich"
    )


def speed_of(signature: Signature, mix: Mix | None) -> ComputeCalibration:
    """Return what the computation of a skeleton costs on this machine.

    Parameters
    ----------
    signature : Signature
        Of the recording: so many processes compute at the same time.
    mix : Mix or None
        What computation consists of; None for arithmetic.
    """
    compiler, processes = _reference(signature)
    return calibrate(compiler, mix=mix, processes=processes)


def speed_touching(signature: Signature, touched: Touched) -> ComputeCalibration:
    """Return the same of computation that touches memory as that of the recording."""
    compiler, processes = _reference(signature)
    return calibrate_touching(
        compiler, touched.mean_bytes_per_us, touched.set_bytes, processes
    )


def _reference(signature: Signature) -> tuple[str, int]:
    """Return the compiler that measures, and how many ranks a host had."""
    processes = max(signature.provenance.ranks_per_host, default=signature.ranks)
    return str(reference_compiler(signature.provenance.mpi)), processes
