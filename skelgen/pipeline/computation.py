"""What the computation of a skeleton consists of, and how fast it is here."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from skelgen.errors import UsageError
from skelgen.pipeline.machine_mpi import speed_of, speed_touching
from skelgen.pipeline.mix import fitted_mix
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.mix_fit import Fit
from skelgen.signature import Signature
from skelgen.trust.types import PAPER_2005

logger = logging.getLogger(__name__)

#: What is known of the computation: how it slowed down beside competitors, what memory
#: the recorder saw it touch, what the user says, or nothing.
FITTED: Final = "fitted"
TOUCHED: Final = "touched"
TYPED: Final = "typed"
ARITHMETIC: Final = "arithmetic"


@dataclass(frozen=True, slots=True)
class Computation:
    """The computation of a skeleton.

    Attributes
    ----------
    speed : ComputeCalibration
    origin : str
        ``fitted``, ``touched``, ``typed`` or ``arithmetic``.
    fitted : Fit or None
        What `skelgen mix` found, where that is used.
    """

    speed: ComputeCalibration
    origin: str
    fitted: Fit | None = None

    @property
    def mix_error(self) -> float | None:
        """Return how unlike the application's it is [1]; None: not measured."""
        return None if self.fitted is None else self.fitted.error


def computation_of(
    source: Path,
    signature: Signature,
    asked: Mix | Literal["touched"] | None,
    method: str,
) -> Computation:
    """Choose what computation consists of, and measure it on this machine.

    Parameters
    ----------
    source : Path
        Folder of the run or signature, where `skelgen mix` keeps what it fits.
    signature : Signature
    asked : Mix or ``touched`` or None
        By the user; None for the best that is known.
    method : str
        The rules of 2005 know arithmetic only.
    """
    if isinstance(asked, Mix):
        return Computation(speed_of(signature, asked), TYPED)
    fitted = fitted_mix(source) if asked is None else None
    if fitted is not None:
        return Computation(speed_of(signature, fitted.mix), FITTED, fitted)
    if asked is None and (signature.touched is None or method == PAPER_2005):
        return Computation(speed_of(signature, None), ARITHMETIC)
    if signature.touched is None:
        raise UsageError(
            f"--compute-mix {asked}: the recorder did not see what memory the "
            "computation touches: the run was too short, or this kernel does not say; "
            "take skelgen mix"
        )
    speed = speed_touching(signature, signature.touched)
    logger.info("computation, by the memory that it touches: %s", speed.mix)
    return Computation(speed, TOUCHED)
