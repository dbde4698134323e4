"""Everything a page shows, decided before the template lays it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skelgen.dwarf import SourceLine
from skelgen.events.sites import with_source
from skelgen.matching.waits import WaitState
from skelgen.phases.stored import PhaseSignature
from skelgen.signature import Signature
from skelgen.skeleton import Report
from skelgen.timeline import RunTimeline
from skelgen.trust.types import WHOLE_EVENTS
from skelgen.units import format_seconds
from skelgen.web.call_sites import CallSites, call_sites_of, signature_sites
from skelgen.web.kept_rows import KeptRow, kept_rows
from skelgen.web.loop_balance import BalanceView, balance_view
from skelgen.web.loop_tree import LEAST_SHARE, MOST_ROWS, NestRow, rows_of
from skelgen.web.matrix_picture import MatrixView, matrix_view
from skelgen.web.newest_answer import Answer, answer_of
from skelgen.web.rank_blocks import blocks_of_signature
from skelgen.web.run_pictures import Timeline, timeline_of
from skelgen.web.time_table import TimeRow, time_rows
from skelgen.web.timeline import TimelineView, timeline_view
from skelgen.web.wait_states import Waiting, computation_of_ranks, waiting_of

#: Rows of the table of phases.
_MOST_PHASES = 40

#: Groups of ranks whose loops are shown; they share the rows of one.
_MOST_TREES = 20


@dataclass(frozen=True, slots=True)
class Shares:
    """How one program spends its time, as in the 2005 paper's figure 2.

    Attributes
    ----------
    name : str
    time_s : float
        Wall time [s].
    compute, mpi : float
        Shares of it, mean over the ranks [0 to 1].
    """

    name: str
    time_s: float
    compute: float
    mpi: float

    @property
    def widths(self) -> tuple[str, str]:
        """Return the two shares as CSS lengths."""
        return f"{100 * self.compute:.2f}%", f"{100 * self.mpi:.2f}%"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One prediction, with the measured truth when it is known.

    Attributes
    ----------
    scenario : str
    skeleton_s, predicted_s, p5_s, p95_s : float
        [s]
    measured_s : float or None
        [s]
    """

    scenario: str
    skeleton_s: float
    predicted_s: float
    p5_s: float
    p95_s: float
    measured_s: float | None

    @property
    def error(self) -> str:
        """Return the signed relative error in per cent, for people."""
        if not self.measured_s:
            return ""
        return f"{100 * (self.predicted_s / self.measured_s - 1):+.1f} %"


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """A relevant phase, ready to show."""

    number: int
    calls: str
    weight: int
    time: str
    share: str


@dataclass(frozen=True, slots=True)
class Page:
    """What the template lays out; texts are ready to show.

    Attributes
    ----------
    title : str
    about : str
        What the page is of.
    answer : Answer
    whole : str
        The time that `times` divides, in words.
    is_counted : bool
        Whether `times` counts functions as `skelgen info` does.
    times : tuple of TimeRow
    waiting : Waiting
    balance : BalanceView or None
    sites : CallSites
    more_trees : int
        Groups of ranks that have no tree here.
    least_share : float
        Computation below it has no row in `trees` [1].
    whole_run : TimelineView or None
    measured : tuple of Shares
        Of the skeleton.
    """

    title: str
    about: str
    answer: Answer
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    whole: str
    is_counted: bool
    times: tuple[TimeRow, ...]
    waiting: Waiting
    balance: BalanceView | None
    sites: CallSites
    trees: tuple[tuple[str, tuple[NestRow, ...]], ...]
    more_trees: int
    least_share: float
    whole_run: TimelineView | None
    timeline: Timeline | None
    matrix: MatrixView | None
    shares: tuple[Shares, ...]
    measured: tuple[Shares, ...]
    classes: tuple[KeptRow, ...]
    left_out: tuple[tuple[str, str, int, str], ...]
    phases: tuple[PhaseRow, ...]
    comparisons: tuple[Comparison, ...]


def application_shares(signature: Signature) -> Shares:
    """Split the application's time into computation and MPI."""
    rows = time_rows(signature)
    compute, mpi = (
        sum(row.share for row in rows if row.kind == kind)
        for kind in ("compute", "mpi")
    )
    name = f"{signature.provenance.application} (application)"
    return Shares(name, signature.application_s, compute, mpi)


def _ranks_text(ranks: Sequence[int]) -> str:
    pieces: list[str] = []
    start = previous = ranks[0]
    for rank in [*ranks[1:], -2]:
        if rank != previous + 1:
            pieces.append(f"{start}" if start == previous else f"{start}-{previous}")
            start = rank
        previous = rank
    return ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(pieces)


def _facts(
    signature: Signature, report: Report | None, scale: float | None, method: str
) -> list[tuple[str, str]]:
    origin = signature.provenance
    items = sum(len(group.nest) for group in signature.groups)
    facts = [
        ("application", origin.application),
        ("command", " ".join(origin.command) or "recorded by hand"),
        ("ranks", _hosts_text(signature)),
        ("time", format_seconds(signature.application_s)),
        ("events", f"{signature.events:,}"),
        ("signature", f"{items:,} items in {len(signature.groups)} rank groups"),
        ("MPI", origin.mpi),
        ("host", origin.host),
        ("recorded", origin.recorded),
        ("skelgen", origin.skelgen),
        *[(name.replace("_", " "), value) for name, value in origin.parameters],
    ]
    if report is not None and scale is not None:
        facts += [
            ("scaling factor K", f"{scale:g}"),
            ("method", method),
            ("expected skeleton time", format_seconds(report.expected_s)),
            ("kept calls", f"{100 * report.fraction:.3g} %"),
            ("run time not represented", f"{100 * report.dropped_share:.2g} %"),
            ("smallest good skeleton", format_seconds(report.smallest_good_s)),
        ]
    return facts


def _hosts_text(signature: Signature) -> str:
    """Say how many ranks ran on how many hosts."""
    ranks, each = signature.ranks, signature.provenance.ranks_per_host
    if not each:
        return str(ranks)
    hosts = "1 host" if len(each) == 1 else f"{len(each)} hosts"
    return f"{ranks} on {hosts}"


def _left_out(
    signature: Signature, report: Report | None
) -> list[tuple[str, str, int, str]]:
    rows = [("dropped", *entry) for entry in (report or signature).dropped]
    if report is not None:
        rows += [("averaged", *entry) for entry in report.merged]
    return [
        (how, reason, calls, format_seconds(time_s))
        for how, reason, calls, time_s in rows
    ]


def page_of(
    signature: Signature,
    report: Report | None = None,
    *,
    scaling_factor: float | None = None,
    method: str = WHOLE_EVENTS,
    measured: Sequence[Shares] = (),
    comparisons: Sequence[Comparison] = (),
    answer: Answer | None = None,
    phases: PhaseSignature | None = None,
    waits: Sequence[WaitState] = (),
    lines: Mapping[str, SourceLine] | None = None,
    timeline: RunTimeline | None = None,
) -> Page:
    """Collect what a page about a signature shows.

    Parameters
    ----------
    signature : Signature
    report : Report, optional
        Of the plan, when a skeleton was built.
    scaling_factor : float, optional
        K of that plan.
    method : str
        Rules that it was made by.
    measured : sequence of Shares
        Measured runs to set beside the application.
    comparisons : sequence of Comparison
        Predictions to list with what happened.
    answer : Answer, optional
        What stands on top.
    phases : PhaseSignature, optional
    waits : sequence of WaitState
        Of the recorded run.
    lines : mapping of str to SourceLine, optional
        Of call sites, by module and offset.
    timeline : RunTimeline, optional

    Returns
    -------
    Page
    """
    ranks, whole_s = signature.ranks, signature.application_s * signature.ranks
    time = format_seconds(signature.application_s)
    shown = signature.groups[:_MOST_TREES]
    most = MOST_ROWS // max(len(shown), 1)
    return Page(
        title=signature.provenance.application,
        about="Execution signature"
        + " and skeleton" * (report is not None)
        + " of an MPI program",
        answer=answer or answer_of(None),
        facts=tuple(_facts(signature, report, scaling_factor, method)),
        warnings=report.warnings if report is not None else (),
        whole=f"{ranks} ranks × {time} = {format_seconds(whole_s)}",
        is_counted=bool(signature.recorded_calls),
        times=time_rows(signature),
        waiting=waiting_of(signature, waits),
        balance=balance_view(computation_of_ranks(signature), signature),
        sites=call_sites_of(
            with_source(signature_sites(signature), lines or {}), whole_s
        ),
        trees=tuple(
            (_ranks_text(group.ranks), rows_of(signature, group, most))
            for group in shown
        ),
        more_trees=len(signature.groups) - len(shown),
        least_share=LEAST_SHARE,
        whole_run=timeline_view(timeline),
        timeline=timeline_of(signature),
        matrix=matrix_view(blocks_of_signature(signature)),
        shares=(application_shares(signature),),
        measured=tuple(measured),
        classes=kept_rows(report) if report is not None else (),
        left_out=tuple(_left_out(signature, report)),
        phases=phase_rows(phases),
        comparisons=tuple(comparisons),
    )


def phase_rows(phases: PhaseSignature | None) -> tuple[PhaseRow, ...]:
    """List the relevant phases, those with most time first."""
    if phases is None:
        return ()
    found = sorted((one.phase for one in phases.phases), key=lambda one: -one.share)
    return tuple(
        PhaseRow(
            one.number,
            ", ".join(name.removeprefix("MPI_") for name in one.calls[:12]),
            one.weight,
            format_seconds(one.time_s),
            f"{100 * one.share:.1f} %",
        )
        for one in found[:_MOST_PHASES]
    )
