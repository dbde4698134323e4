"""What the ways to execute the phases of an application have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from skelgen.launch import Host, LaunchCommand
from skelgen.launch.runner import Runner


@dataclass(frozen=True, slots=True)
class Application:
    """The application as it is to be launched.

    Attributes
    ----------
    launch : LaunchCommand
    ranks : int
    folder : Path or None
        Working directory; skelgen's own when None.
    environment : tuple of (str, str)
        Variables of the recording that are not set now.
    hosts : tuple of Host
        With the ranks of each; where the command says when empty.
    runner : Runner or None
        Starts it on hosts; the command runs as it was typed when None.
    """

    launch: LaunchCommand
    ranks: int
    folder: Path | None = None
    environment: tuple[tuple[str, str], ...] = ()
    hosts: tuple[Host, ...] = ()
    runner: Runner | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """An occurrence of a phase that is to be measured.

    Attributes
    ----------
    phase : int
        Its number in the signature, from 1.
    occurrence : int
        Place among all occurrences of the run, from 0.
    begin, end : (ranks,) int64 arrays
        The calls after which each rank is at its begin and at its end.
    warm : (ranks,) int64 array
        Where a checkpoint is taken: the begin of an occurrence before it, so that
        caches are warm when it begins.
    recorded_s : float
        Its time in the recording, mean of the ranks [s].
    """

    phase: int
    occurrence: int
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    warm: NDArray[np.int64]
    recorded_s: float


@dataclass(frozen=True, slots=True)
class Measured:
    """An occurrence that was measured.

    Attributes
    ----------
    phase, occurrence : int
        As in `Wanted`.
    time_s : float
        Mean of the ranks [s]: from the end of the last call before it to that of the
        last call in it.
    """

    phase: int
    occurrence: int
    time_s: float


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether a backend works here.

    Attributes
    ----------
    works : bool
    text : str
        One line: what was found, or why it does not work and what helps.
    """

    works: bool
    text: str


class Session(Protocol):
    """An application that is under way to its phases."""

    def request(self, wanted: Wanted) -> None:
        """Wait until an occurrence can be restored: was measured, or has an image.

        Called for each that was given to `Backend.launch`, in their order.

        Raises
        ------
        ApplicationError
            When a rank dies, the application ends before, or the time is over.
        """

    def restore(self, wanted: Wanted) -> Measured:
        """Measure an occurrence that was requested; may be called again.

        A backend without images returns what was measured in passing.
        """

    def stop(self) -> None:
        """End all that still runs and remove what was written; does no harm twice."""


class Backend(Protocol):
    """A way to execute the phases of an application."""

    name: ClassVar[str]

    def probe(self, application: Application) -> Probe:
        """Find out whether it works for an application here, in a second or two."""

    def launch(
        self, application: Application, wanted: Sequence[Wanted], *, limit_s: float
    ) -> Session:
        """Start the application under the recorder.

        Parameters
        ----------
        application : Application
        wanted : sequence of Wanted
            In the order of the run.
        limit_s : float
            Longest time until the last of them [s].

        Raises
        ------
        MachineError
            When it cannot be started.
        """
