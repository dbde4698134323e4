"""The page of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen import __version__
from skelgen.events.summary import RunSummary
from skelgen.matching.waits import WaitState
from skelgen.phases.stored import PhaseSignature
from skelgen.prediction.kept import KeptPrediction
from skelgen.timeline import RunTimeline
from skelgen.units import format_bytes, format_seconds
from skelgen.web.call_sites import CallSites, call_sites_of
from skelgen.web.loop_balance import balance_view
from skelgen.web.loop_tree import LEAST_SHARE
from skelgen.web.matrix_picture import matrix_view
from skelgen.web.newest_answer import Answer, answer_of
from skelgen.web.page import Page, phase_rows
from skelgen.web.rank_blocks import blocks_of_ranks
from skelgen.web.time_table import divided
from skelgen.web.timeline import timeline_view
from skelgen.web.wait_states import Waiting, waiting


def run_page(
    run: RunSummary,
    computed_s: NDArray[np.float64],
    *,
    application: str,
    command: Sequence[str] = (),
    predictions: Sequence[KeptPrediction] = (),
    waits: Sequence[WaitState] = (),
    notes: Sequence[str] = (),
    phases: PhaseSignature | None = None,
    timeline: RunTimeline | None = None,
) -> Page:
    """Collect what the page of a recorded run shows.

    Parameters
    ----------
    run : RunSummary
    computed_s : (ranks,) array
        Time between calls of each rank [s].
    application : str
    command : sequence of str
        As it was launched.
    predictions : sequence of KeptPrediction
        The oldest first.
    waits : sequence of WaitState
    notes : sequence of str
        Why lines of call sites are not known.
    phases : PhaseSignature, optional
    timeline : RunTimeline, optional
    """
    whole_s = run.application_s * run.ranks
    inside_s = sum(one.time_s for one in run.functions)
    compute_s = float(computed_s.sum())
    parts: list[tuple[str, int | None, float, str]] = [
        (one.name, one.calls, one.time_s, "mpi") for one in run.functions
    ]
    parts.append(("computation", None, compute_s, "compute"))
    time = format_seconds(run.application_s)
    return replace(
        _empty(application, "Recorded run of an MPI program"),
        answer=answer_of_run(
            f"The recorded run took {time} on {_ranks(run)}, {run.mpi_share:.0%} of it "
            "in MPI.",
            predictions,
        ),
        facts=_facts(run, application, command),
        warnings=run.warnings,
        whole=f"{run.ranks} ranks × {time} = {format_seconds(whole_s)}",
        times=divided(parts, whole_s, inside_s + compute_s),
        waiting=waiting(whole_s, computed_s, waits),
        balance=balance_view(computed_s),
        sites=call_sites_of(run.sites, whole_s, notes),
        matrix=matrix_view(blocks_of_ranks(run.matrix, run.messages)),
        phases=phase_rows(phases),
        whole_run=timeline_view(timeline),
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


def _ranks(run: RunSummary) -> str:
    hosts = "1 host" if len(run.hosts) == 1 else f"{len(run.hosts)} hosts"
    return f"{run.ranks} ranks of {hosts}" if run.ranks > 1 else "1 rank"


def _facts(
    run: RunSummary, application: str, command: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    hosts = ", ".join(f"{name} ({ranks})" for name, ranks in run.hosts)
    ended = "yes" if run.clean else "no"
    return (
        ("application", application),
        ("command", " ".join(command) or "recorded by hand"),
        ("program", run.program),
        ("ranks", f"{run.ranks} on {hosts}"),
        ("time", format_seconds(run.application_s)),
        ("events", f"{run.events:,}"),
        ("trace", format_bytes(run.trace_bytes)),
        ("cost of recording", f"{run.recorder_share:.2%} of the ranks' time"),
        ("MPI", run.mpi),
        ("recorded", run.started),
        ("ended cleanly", ended),
        ("skelgen", __version__),
    )
