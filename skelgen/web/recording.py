"""What the page of a recorded run is made of, wherever it is shown.

`skelgen info` shows it at once. A store keeps it as a document: see `recording_written`
and `recording_read`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.sites import SiteSummary
from skelgen.events.summary import RecordedCalls, RunSummary
from skelgen.matching.waits import WaitState
from skelgen.timeline import RunTimeline
from skelgen.web.rank_blocks import SentBlocks, blocks_of_ranks


@dataclass(frozen=True, slots=True, eq=False)
class RunRecording:
    """What the page of a recorded run is made of.

    Attributes
    ----------
    application, program, mpi, started : str
        Started as ISO date, UTC.
    command : tuple of str
        As it was launched; empty where it was recorded by hand.
    ranks : int
    hosts : tuple of (str, int)
        Name and ranks of each host.
    more_hosts : int
        Hosts that are not among them.
    events, trace_bytes : int
    application_s : float
        Time of the run [s].
    mpi_share, recorder_share : float
        Inside MPI, and recording: of the time of all ranks [0 to 1].
    clean : bool
        Whether all ranks are there and ended as they should.
    warnings, notes : tuple of str
        Notes: why lines of call sites are not known.
    functions : tuple of (str, int, float)
        Name, calls and time inside them [s], longest time first.
    compute_s : float
        Time between calls, all ranks [s].
    computed_s : (ranks,) array
        The same of each rank [s]; empty where that is left out.
    waits : tuple of WaitState
        Longest time first.
    sites : tuple of SiteSummary
        Longest time first.
    more_sites : int
        Call sites that are not among them.
    sent : SentBlocks
    timeline : RunTimeline or None
    left_out : tuple of str
        What was left out or made coarser to keep it small.
    """

    application: str
    program: str
    mpi: str
    started: str
    command: tuple[str, ...]
    ranks: int
    hosts: tuple[tuple[str, int], ...]
    more_hosts: int
    events: int
    trace_bytes: int
    application_s: float
    mpi_share: float
    recorder_share: float
    clean: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    functions: RecordedCalls
    compute_s: float
    computed_s: NDArray[np.float64]
    waits: tuple[WaitState, ...]
    sites: tuple[SiteSummary, ...]
    more_sites: int
    sent: SentBlocks
    timeline: RunTimeline | None
    left_out: tuple[str, ...] = ()


def recording_of(
    run: RunSummary,
    computed_s: NDArray[np.float64],
    *,
    application: str,
    command: Sequence[str] = (),
    waits: Sequence[WaitState] = (),
    notes: Sequence[str] = (),
    timeline: RunTimeline | None = None,
) -> RunRecording:
    """Collect what the page of a recorded run is made of.

    Parameters
    ----------
    run : RunSummary
    computed_s : (ranks,) array
        Time between calls of each rank [s].
    application : str
    command : sequence of str
        As it was launched.
    waits : sequence of WaitState
    notes : sequence of str
        Why lines of call sites are not known.
    timeline : RunTimeline, optional
    """
    return RunRecording(
        application=application,
        program=run.program,
        mpi=run.mpi,
        started=run.started,
        command=tuple(command),
        ranks=run.ranks,
        hosts=run.hosts,
        more_hosts=0,
        events=run.events,
        trace_bytes=run.trace_bytes,
        application_s=run.application_s,
        mpi_share=run.mpi_share,
        recorder_share=run.recorder_share,
        clean=run.clean,
        warnings=run.warnings,
        notes=tuple(notes),
        functions=tuple((one.name, one.calls, one.time_s) for one in run.functions),
        compute_s=float(computed_s.sum()),
        computed_s=computed_s,
        waits=tuple(waits),
        sites=run.sites,
        more_sites=0,
        sent=blocks_of_ranks(run.matrix, run.messages),
        timeline=timeline,
    )
