"""What a prediction needs to know of an application that is run for its phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.phase_execution.estimate import drift, unmeasured_share
from skelgen.phase_execution.plan import ExecutionPlan
from skelgen.phase_execution.thresholds import LONG_NOISE_FACTOR
from skelgen.phases.stored import PhaseSignature
from skelgen.phases.thresholds import MACHINE_SPREAD
from skelgen.prediction.thresholds import SHORTEST_TRUSTED_S
from skelgen.prediction.types import Times
from skelgen.trust import Doubt
from skelgen.trust.intervals import median_draws, relative_spread
from skelgen.trust.types import PHASES
from skelgen.units import format_seconds


@dataclass(frozen=True, slots=True)
class PhaseFacts:
    """An application whose runs tell its own time (PAET): nothing is scaled.

    Attributes
    ----------
    application, recorded : str
        Name of the program and date of the recorded run (ISO, UTC).
    application_s : float
        Time of that run [s].
    ranks : int
    ranks_per_host : tuple of int
        Of that run.
    mpi : str
        Library of that run.
    unmeasured_share : float
        Share of the application's time that the phases to measure do not tell [0 to 1].
    drift : float
        By how much their times drifted in the recording, as far as a machine may have
        made it [1]: the rest is the program's, which the correction of PET knows.
    """

    application: str
    recorded: str
    application_s: float
    ranks: int
    ranks_per_host: tuple[int, ...]
    mpi: str
    unmeasured_share: float
    drift: float

    @classmethod
    def of(cls, signature: PhaseSignature, plan: ExecutionPlan) -> PhaseFacts:
        """Return what is known of an application when a plan is executed."""
        origin, wanted = signature.provenance, {one.phase for one in plan.wanted}
        return cls(
            application=origin.application,
            recorded=origin.recorded,
            application_s=signature.application_s,
            ranks=signature.ranks,
            ranks_per_host=origin.ranks_per_host,
            mpi=origin.mpi,
            unmeasured_share=unmeasured_share(signature, wanted),
            drift=min(drift(signature, wanted), LONG_NOISE_FACTOR * MACHINE_SPREAD),
        )

    @property
    def quiet_s(self) -> float:
        """Return the time of the recorded run [s]: nothing calibrates it."""
        return self.application_s

    @property
    def expected_s(self) -> float:
        """Return the time of the recorded run [s]: it runs as long at most."""
        return self.application_s

    @property
    def method(self) -> str:
        """Return what tells methods with different errors apart."""
        return PHASES

    @property
    def fitted(self) -> bool:
        """Return True: it computes as the application does."""
        return True

    @property
    def scaling_factor(self) -> None:
        """Return none: the application itself runs."""

    @property
    def calibration(self) -> None:
        """Return none: there is no ratio to measure."""

    @property
    def ratio(self) -> float:
        """Return 1: its times are those of the application."""
        return 1.0

    @property
    def narrowing(self) -> str:
        """Return what the user can do about a wide interval."""
        return "raise --budget"

    def application_time(self, there_s: Times) -> NDArray[np.float64]:
        """Return the times that the phases tell, as they are [s]."""
        return np.asarray(there_s, np.float64)

    @property
    def planned_compute_s(self) -> None:
        """Return none: nothing is planned."""

    def draws(
        self,
        runs_s: Sequence[float],
        generator: np.random.Generator,
        longer: Times = 1.0,
    ) -> NDArray[np.float64]:
        """Draw the application's time [s] without the error of the method."""
        draws = median_draws(runs_s, generator, spread=relative_spread(runs_s))
        return np.asarray(draws * longer, np.float64)

    def doubts(self, mpi: str) -> tuple[Doubt, ...]:
        """Return that it is too short, where it is."""
        if self.application_s >= SHORTEST_TRUSTED_S:
            return ()
        text = (
            f"too short: {format_seconds(self.application_s)}, an application whose "
            f"phases are measured takes at least {format_seconds(SHORTEST_TRUSTED_S)}"
        )
        return (Doubt("too-short", text, "record a longer run"),)

    def shortened(self, factor: float) -> PhaseFacts:
        """Return itself: whatever part of it runs, its phases tell the whole time."""
        return self
