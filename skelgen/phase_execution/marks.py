"""The files by which the shim is told where to take the time, and tells it.

``pmpi_shim/phases/phase_files.h`` describes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skelgen.errors import ApplicationError
from skelgen.launch.command import LaunchCommand
from skelgen.launch.folders import replace_file
from skelgen.launch.shim import mpi_of, shim
from skelgen.phase_execution.interface import WantedOccurrence
from skelgen.phase_execution.thresholds import PROBES
from skelgen.phases.counts import counts

TIME, PROBE, HOLD, STOP = "time", "probe", "hold", "stop"

#: What all ranks say when the files are not of as many ranks as there are.
NO_MARKS = "no-marks"
#: What a rank says last when it was stopped: by MPI_Finalize, or by MPI_Abort.
STOPPED = ("stopped", "stopping")
#: What a rank says when the application ended of its own.
FINALIZED = "finalized"


@dataclass(frozen=True, slots=True)
class RankTimes:
    """What one rank measured.

    Attributes
    ----------
    time_ns : dict of int to int
        Time at each count of calls at which it was taken, on a clock of this rank [ns].
    function : dict of int to str
        What it called then.
    end : str
        ``stopped``, ``stopping`` (by MPI_Abort), ``held``, ``finalized`` when the
        application ended of its own, or ``no-marks``.
    count : int
        Its calls until then; of ``no-marks`` the number of ranks.
    probes_s : tuple of float
        How long a fixed piece of arithmetic took between occurrences [s].
    """

    time_ns: dict[int, int]
    function: dict[int, str]
    end: str
    count: int
    probes_s: tuple[float, ...] = ()


def recorder_variables(folder: Path, launch: LaunchCommand) -> dict[str, str]:
    """Return the variables that make the shim follow the files of a folder."""
    return {
        "LD_PRELOAD": str(shim(mpi_of(launch))),
        "SKELGEN_DIR": str(folder / "run"),
        "SKELGEN_PHASES": str(folder),
    }


def marks_file(folder: Path, rank: int) -> Path:
    """Return the file that tells a rank where to do what."""
    return folder / f"rank-{rank:06}.marks"


def times_file(folder: Path, rank: int) -> Path:
    """Return the file in which a rank tells the times."""
    return folder / f"rank-{rank:06}.times"


def timed(wanted: Iterable[WantedOccurrence], rank: int) -> list[tuple[int, str]]:
    """Return the marks of a rank that measure occurrences."""
    counts = {int(at[rank]) for one in wanted for at in (one.begin, one.end)}
    return [(count, TIME) for count in counts]


def probed(wanted: Sequence[WantedOccurrence], rank: int) -> list[tuple[int, str]]:
    """Return the marks of a rank that probe the machine's speed, spread over them."""
    some = np.linspace(0, len(wanted), PROBES + 1).astype(int)[:-1]
    return [(int(wanted[at].begin[rank]), PROBE) for at in sorted({*some.tolist()})]


def write_marks(folder: Path, rank: int, marks: Iterable[tuple[int, str]]) -> None:
    """Write the file of a rank; a rank that holds goes on with what it finds then.

    Parameters
    ----------
    folder : Path
    rank : int
    marks : iterable of (int, str)
        Counts and what to do there. At one count first the time is taken, then the
        machine is probed, then the rank holds, then it stops.
    """
    order = (TIME, PROBE, HOLD, STOP)
    lines = sorted(set(marks), key=lambda mark: (mark[0], order.index(mark[1])))
    text = "".join(f"{count} {action}\n" for count, action in lines)
    replace_file(marks_file(folder, rank), text)


def read_times(folder: Path, rank: int) -> RankTimes | None:
    """Read what a rank measured; None when it has not written anything."""
    try:
        text = times_file(folder, rank).read_text()
    except FileNotFoundError:
        return None
    *lines, last = text.splitlines()
    rows = [line.split() for line in lines]
    end, count = last.split()
    times = [row for row in rows if row[-1] != PROBE]
    return RankTimes(
        time_ns={int(at): int(time_ns) for at, time_ns, _ in times},
        function={int(at): function for at, _, function in times},
        end=end,
        count=int(count),
        probes_s=tuple(
            int(length_ns) / 1e9 for _, length_ns, word in rows if word == PROBE
        ),
    )


def read_ranks(folder: Path, ranks: int) -> list[RankTimes | None]:
    """Read what each rank measured; None where it is not there, or not whole."""
    found: list[RankTimes | None] = [None] * ranks
    for rank in range(ranks):
        with contextlib.suppress(OSError, ValueError):
            found[rank] = read_times(folder, rank)
    return found


def named(ranks: Sequence[int]) -> str:
    """Name a rank, or tell how many there are."""
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"{len(ranks)} ranks"


def check_ranks(told: Iterable[RankTimes | None], expected: int) -> None:
    """Refuse an application that was launched with another number of ranks.

    Raises
    ------
    ApplicationError
        When a rank said so, or did not find the files.
    """
    for one in told:
        if one is None or one.end != NO_MARKS:
            continue
        if one.count != expected:
            raise ApplicationError(
                f"{one.count} ranks were launched, the phase signature is of "
                f"{expected}; launch {expected}, or record the application with "
                f"{one.count}"
            )
        raise ApplicationError(
            "ranks did not find the files of the run: the hosts do not share the "
            "folder of the signature, or its disk is full"
        )


def mean_s(ranks: Sequence[RankTimes], wanted: WantedOccurrence) -> float | None:
    """Return the time of an occurrence, mean of the ranks [s]; None if one lacks it."""
    spent_ns = 0
    for one, begin, end in zip(
        ranks, wanted.begin.tolist(), wanted.end.tolist(), strict=True
    ):
        if begin not in one.time_ns or end not in one.time_ns:
            return None
        spent_ns += one.time_ns[end] - one.time_ns[begin]
    return spent_ns / len(ranks) / 1e9


def too_short(ranks: Sequence[RankTimes], last: WantedOccurrence, place: Path) -> str:
    """Say why ranks did not tell all their times.

    Parameters
    ----------
    ranks : sequence of RankTimes
    last : WantedOccurrence
        The one of what they were to measure that ends last.
    place : Path
        Working folder of the application.
    """
    ended = (rank for rank, one in enumerate(ranks) if one.end == FINALIZED)
    if (short := next(ended, None)) is None:
        return (
            f"ranks came to the end of phase {last.phase} but wrote fewer times than "
            "they were asked for: is there memory left on their hosts?"
        )
    return (
        f"the application ended after {ranks[short].count} calls of rank {short}; in "
        f"the recording phase {last.phase} was over after {int(last.end[short])}: it "
        f"does less work than then; is its input in {place}? Or record it again"
    )


def check_functions(ranks: Sequence[RankTimes], wanted: WantedOccurrence) -> None:
    """Refuse times of a program that does not call what it called in the recording."""
    rank = int(np.argmax(wanted.end > wanted.begin))
    names = [name.removesuffix(" (failed)") for name in wanted.calls if counts(name)]
    called = ranks[rank].function[int(wanted.begin[rank])]
    # Not all occurrences of a phase begin at the same of its calls.
    if names and called not in names:
        raise ApplicationError(
            f"rank {rank} called {called} where phase {wanted.phase} began, which in "
            f"the recording called {', '.join(dict.fromkeys(names))}: the application "
            "does not do the same again; record it again, or predict with a skeleton"
        )
