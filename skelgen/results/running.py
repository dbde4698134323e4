"""Answers of record, export, share, build and calibrate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from skelgen.pipeline.left_out import LeftOut
from skelgen.results.base import Result

if TYPE_CHECKING:
    from skelgen.pipeline.build import Built
    from skelgen.pipeline.export import Exported
    from skelgen.pipeline.record import Recorded
    from skelgen.pipeline.share import Shared
    from skelgen.prediction import Calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordResult(Result):
    """What a recorded run left.

    Attributes
    ----------
    output : Path
        Folder of the trace.
    exit_code : int
        Of the application.
    duration_s : float
        Wall time of the launch [s].
    ranks, events : int
        Processes with a trace, and MPI calls and gaps in it.
    trace_bytes : int
        Size of its files [bytes].
    """

    result: ClassVar[str] = "record"

    output: Path
    exit_code: int
    duration_s: float
    ranks: int
    events: int
    trace_bytes: int

    @classmethod
    def of(cls, found: Recorded, output: Path) -> Self:
        """Return the answer to what was recorded into a folder."""
        return cls(
            output=output,
            exit_code=found.facts.exit_code,
            duration_s=found.facts.duration_s,
            ranks=found.ranks,
            events=found.events,
            trace_bytes=found.trace_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult(Result):
    """What was written for another tool.

    Attributes
    ----------
    output, opens : Path
        File or folder, and what the tool opens of it.
    events : int
        MPI calls and gaps that are in it.
    records : mapping of str to int
        How many records of each kind.
    size_bytes : int
        Of all files [bytes].
    notes : sequence of str
        What the format cannot say.
    """

    result: ClassVar[str] = "export"

    output: Path
    opens: Path
    events: int
    records: Mapping[str, int]
    size_bytes: int
    notes: Sequence[str]

    @classmethod
    def of(cls, found: Exported) -> Self:
        """Return the answer to what was written."""
        return cls(
            output=found.output,
            opens=found.opens,
            events=found.events,
            records=found.records,
            size_bytes=found.size_bytes,
            notes=found.notes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareResult(Result):
    """What was written to give away.

    Attributes
    ----------
    output : Path
        The file.
    left_out, kept : sequence of str
        What it does not say, and what it says.
    """

    result: ClassVar[str] = "share"

    output: Path
    left_out: Sequence[str]
    kept: Sequence[str]

    @classmethod
    def of(cls, found: Shared) -> Self:
        """Return the answer to what was written."""
        given = found.given
        return cls(output=found.output, left_out=given.left_out, kept=given.kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult(Result):
    """A skeleton that was built.

    Attributes
    ----------
    output : Path
        Its folder.
    scaling_factor : float
        K: application time / skeleton time [1].
    method : str
        Rules that it was planned by.
    signature_items, skeleton_events : int
        Lengths of the signature and of the skeleton's longest rank.
    expected_s : float
        Time of the skeleton on the machine of the recording [s].
    application_s : float
        Time of the recorded run [s].
    smallest_good_s : float
        Time of the shortest good skeleton [s].
    dropped_share : float
        Run time that is not represented [0 to 1].
    left_out : sequence of LeftOut
        Calls that are not in the skeleton.
    warnings : sequence of str
        What may make it unlike the application.
    fitted_mix : str
        Computation as skelgen mix fitted it; empty: not fitted.
    mix : str
        What computation consists of: shares of arithmetic, streaming and pointer
        chasing [%], and their working set [MiB].
    mix_origin : str
        How that is known: fitted, touched, typed or arithmetic.
    divided : str
        What became of computation and bytes where whole calls are too coarse for K.
    """

    result: ClassVar[str] = "build"

    output: Path
    scaling_factor: float
    method: str
    signature_items: int
    skeleton_events: int
    expected_s: float
    application_s: float
    smallest_good_s: float
    dropped_share: float
    left_out: Sequence[LeftOut]
    warnings: Sequence[str]
    fitted_mix: str
    mix: str
    mix_origin: str
    divided: str

    @classmethod
    def of(cls, found: Built) -> Self:
        """Return the answer to what was built."""
        return cls(
            output=found.output,
            scaling_factor=found.scaling_factor,
            method=found.method,
            signature_items=found.signature_items,
            skeleton_events=found.skeleton_events,
            expected_s=found.expected_s,
            application_s=found.application_s,
            smallest_good_s=found.smallest_good_s,
            dropped_share=found.dropped_share,
            left_out=found.left_out,
            warnings=found.warnings,
            fitted_mix=found.fitted_mix,
            mix=found.mix,
            mix_origin=found.mix_origin,
            divided=found.divided,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateResult(Result):
    """How much longer the application takes than its skeleton.

    Attributes
    ----------
    ratio : float
        Application time / skeleton time, medians of the runs [1].
    ratio_p5, ratio_p95 : float
        Ends of its 90 % interval [1].
    application_s, skeleton_s : float
        Medians of the runs that count [s].
    application_runs_s, skeleton_runs_s : sequence of float
        Time of each run [s].
    host, mpi : str
        Where and with which MPI library it was measured.
    load : sequence of float
        Load averages of the host before the first run.
    application_lost_s, skeleton_lost_s : sequence of float
        What was taken from the time of each run, because other processes had its cores
        [s]; empty when nothing was.
    date : str
        When it was measured (ISO, UTC).
    hosts : sequence of str
        Node set with the ranks of each host; empty where the launch says it.
    command : sequence of str
        Launch of the application, without secrets.
    skeleton_computed_s : sequence of float
        Computation of each run of the skeleton, on the rank that computed longest [s];
        empty where nothing said it.
    disturbed : sequence of int
        Which of these runs computed longer than the others and do not count, from 0.
    """

    result: ClassVar[str] = "calibrate"

    ratio: float
    ratio_p5: float
    ratio_p95: float
    application_s: float
    skeleton_s: float
    application_runs_s: Sequence[float]
    skeleton_runs_s: Sequence[float]
    host: str
    mpi: str
    load: Sequence[float]
    application_lost_s: Sequence[float]
    skeleton_lost_s: Sequence[float]
    date: str
    hosts: Sequence[str]
    command: Sequence[str]
    skeleton_computed_s: Sequence[float]
    disturbed: Sequence[int]

    @classmethod
    def of(cls, found: Calibration) -> Self:
        """Return the answer to what was measured."""
        from skelgen.prediction.ratio_outlook import ratio_interval

        known = ratio_interval(found.application_runs_s, found.undisturbed_s)
        return cls(
            ratio=found.ratio,
            ratio_p5=known.p5,
            ratio_p95=known.p95,
            application_s=found.application_s,
            skeleton_s=found.skeleton_s,
            application_runs_s=found.application_runs_s,
            skeleton_runs_s=found.skeleton_runs_s,
            host=found.host,
            mpi=found.mpi,
            load=found.load,
            application_lost_s=found.application_lost_s,
            skeleton_lost_s=found.skeleton_lost_s,
            date=found.date,
            hosts=found.hosts,
            command=found.command,
            skeleton_computed_s=found.skeleton_computed_s,
            disturbed=found.disturbed,
        )
