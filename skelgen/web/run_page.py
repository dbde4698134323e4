"""The page of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skelgen import __version__
from skelgen.phases.stored import PhaseSignature
from skelgen.prediction.kept import KeptPrediction
from skelgen.units import format_bytes, format_seconds
from skelgen.web.call_sites import CallSites, call_sites_of
from skelgen.web.loop_balance import balance_view
from skelgen.web.loop_tree import LEAST_SHARE
from skelgen.web.matrix_picture import matrix_view
from skelgen.web.newest_answer import Answer, answer_of
from skelgen.web.page import Page, phase_rows
from skelgen.web.recording import RunRecording
from skelgen.web.time_table import TimeRow, divided
from skelgen.web.timeline import timeline_view
from skelgen.web.wait_states import Waiting, waiting


def run_page(
    run: RunRecording,
    *,
    predictions: Sequence[KeptPrediction] = (),
    phases: PhaseSignature | None = None,
) -> Page:
    """Decide what the page of a recorded run shows.

    Parameters
    ----------
    run : RunRecording
    predictions : sequence of KeptPrediction
        The oldest first.
    phases : PhaseSignature, optional
    """
    whole_s = run.application_s * run.ranks
    time = format_seconds(run.application_s)
    sites = call_sites_of(run.sites, whole_s, run.notes)
    return replace(
        _empty(run.application, "Recorded run of an MPI program"),
        answer=answer_of_run(headline_of(run), predictions),
        facts=_facts(run),
        warnings=(*run.warnings, *run.left_out),
        whole=f"{run.ranks} ranks × {time} = {format_seconds(whole_s)}",
        times=times_of(run),
        waiting=waiting(whole_s, run.computed_s, run.waits),
        balance=balance_view(run.computed_s),
        sites=replace(sites, hidden=sites.hidden + run.more_sites),
        matrix=matrix_view(run.sent),
        phases=phase_rows(phases),
        whole_run=timeline_view(run.timeline),
    )


def times_of(run: RunRecording) -> tuple[TimeRow, ...]:
    """Return where the time of all ranks of a run goes, largest part first."""
    inside_s = sum(time_s for _, _, time_s in run.functions)
    parts: list[tuple[str, int | None, float, str]] = [
        (name, calls, time_s, "mpi") for name, calls, time_s in run.functions
    ]
    parts.append(("computation", None, run.compute_s, "compute"))
    return divided(parts, run.application_s * run.ranks, inside_s + run.compute_s)


def headline_of(run: RunRecording) -> str:
    """Return how long a recorded run took, as a sentence."""
    time = format_seconds(run.application_s)
    return (
        f"The recorded run took {time} on {_ranks(run)}, {run.mpi_share:.0%} of it "
        "in MPI."
    )


def answer_of_run(said: str, predictions: Sequence[KeptPrediction] = ()) -> Answer:
    """Return what stands on top of the page of a run: a prediction, or `said`."""
    answer = answer_of(None, predictions)
    if predictions:
        return answer
    todo = "Next: skelgen build, for a short skeleton; or skelgen measure."
    return replace(answer, headline=said, notes=(todo,))


def _empty(title: str, about: str) -> Page:
    return Page(
        title=title,
        about=about,
        answer=answer_of(None),
        facts=(),
        warnings=(),
        whole="",
        is_counted=True,
        times=(),
        waiting=Waiting("", "", ()),
        balance=None,
        sites=CallSites(),
        trees=(),
        more_trees=0,
        least_share=LEAST_SHARE,
        whole_run=None,
        timeline=None,
        matrix=None,
        shares=(),
        measured=(),
        classes=(),
        left_out=(),
        phases=(),
        comparisons=(),
    )


def _ranks(run: RunRecording) -> str:
    count = len(run.hosts) + run.more_hosts
    hosts = "1 host" if count == 1 else f"{count} hosts"
    return f"{run.ranks} ranks of {hosts}" if run.ranks > 1 else "1 rank"


def _facts(run: RunRecording) -> tuple[tuple[str, str], ...]:
    names = [f"{name} ({ranks})" for name, ranks in run.hosts]
    names += [f"{run.more_hosts} more"] * bool(run.more_hosts)
    return (
        ("application", run.application),
        ("command", " ".join(run.command) or "recorded by hand"),
        ("program", run.program),
        ("ranks", f"{run.ranks} on {', '.join(names)}"),
        ("time", format_seconds(run.application_s)),
        ("events", f"{run.events:,}"),
        ("trace", format_bytes(run.trace_bytes)),
        ("cost of recording", f"{run.recorder_share:.2%} of the ranks' time"),
        ("MPI", run.mpi),
        ("recorded", run.started),
        ("ended cleanly", "yes" if run.clean else "no"),
        ("skelgen", __version__),
    )
