"""Write the page of a skeleton's folder, and keep it current.

What changes after the build is put into the page that is there: nothing is planned or
run again for it. No command fails, and none waits, because of its page.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from skelgen.dwarf import SourceLine
from skelgen.errors import SkelgenError
from skelgen.launch.folders import replace_file
from skelgen.phases.store import PHASES_FILE
from skelgen.phases.store import load as load_phases
from skelgen.phases.stored import PhaseSignature
from skelgen.pipeline.call_observers import timeline_beside
from skelgen.pipeline.call_sites import kept_lines
from skelgen.pipeline.page_file import PAGE_FILE, has_any_page, has_page, with_regions
from skelgen.pipeline.run_page import update_run_page
from skelgen.pipeline.source_kinds import SIGNATURE_FILE
from skelgen.prediction.kept import KeptPrediction, load_kept
from skelgen.prediction.skeleton_facts import SkeletonFacts
from skelgen.prediction.skeleton_file import load
from skelgen.signature import Signature, store
from skelgen.skeleton import Report
from skelgen.skeleton.methods import planner
from skelgen.timeline import RunTimeline
from skelgen.timeline.store import TIMELINE_FILE, text_of
from skelgen.web.newest_answer import answer_of
from skelgen.web.page import Comparison, Shares, page_of, phase_rows
from skelgen.web.render import render_page
from skelgen.web.timeline import timeline_view

logger = logging.getLogger(__name__)


#: Longest signature that a missing page is made of [bytes].
_MOST_SIGNATURE = 1 << 20


def page_text(
    signature: Signature,
    report: Report,
    facts: SkeletonFacts,
    *,
    predictions: Sequence[KeptPrediction] = (),
    comparisons: Sequence[Comparison] = (),
    phases: PhaseSignature | None = None,
    lines: Mapping[str, SourceLine] | None = None,
    timeline: RunTimeline | None = None,
) -> str:
    """Return the whole page of a skeleton.

    Parameters
    ----------
    signature : Signature
    report : Report
        Of the plan.
    facts : SkeletonFacts
    predictions : sequence of KeptPrediction
        The oldest first.
    comparisons : sequence of Comparison
        Predictions with what happened.
    phases : PhaseSignature, optional
    lines : mapping of str to SourceLine, optional
        Of call sites, by module and offset.
    timeline : RunTimeline, optional
        Of the recorded run.
    """
    page = page_of(
        signature,
        report,
        scaling_factor=facts.scaling_factor,
        method=facts.method,
        measured=_measured(facts),
        comparisons=comparisons,
        answer=answer_of(facts, predictions),
        phases=phases,
        waits=facts.waits,
        lines=lines,
        timeline=timeline,
    )
    return render_page(page)


def write_page(folder: Path, comparisons: Sequence[Comparison] = ()) -> Path:
    """Make the whole page of a skeleton's folder again.

    Parameters
    ----------
    folder : Path
    comparisons : sequence of Comparison
        Predictions to show with what happened.

    Returns
    -------
    Path
        Of the page.
    """
    facts = load(folder)
    signature = store.load(folder / SIGNATURE_FILE)
    report = planner(facts.method)(signature, facts.scaling_factor).report
    text = page_text(
        signature,
        report,
        facts,
        predictions=load_kept(folder),
        comparisons=comparisons,
        phases=load_phases(folder) if (folder / PHASES_FILE).is_file() else None,
        lines=kept_lines(folder).frames,
        timeline=timeline_beside(folder),
    )
    path = folder / PAGE_FILE
    replace_file(path, text)
    return path


def update_page(
    folder: Path,
    predictions: Sequence[KeptPrediction] | None = None,
    *,
    phases: PhaseSignature | None = None,
    timeline: RunTimeline | None = None,
) -> None:
    """Put what is known now into the page of the folder of a skeleton or a run.

    Says in the log why it cannot, and raises nothing: the command's own work is done.

    Parameters
    ----------
    folder : Path
        Others have no page.
    predictions : sequence of KeptPrediction, optional
        Those that its file has, where they were read already.
    phases : PhaseSignature, optional
        New ones.
    timeline : RunTimeline, optional
        A new one, which is stored there.
    """
    try:
        if has_page(folder):
            _update(folder, predictions, phases, timeline)
        elif has_any_page(folder):
            update_run_page(folder, predictions, phases)
    except (SkelgenError, OSError) as error:
        logger.warning("%s was not brought up to date: %s", folder / PAGE_FILE, error)


def _update(
    folder: Path,
    predictions: Sequence[KeptPrediction] | None,
    phases: PhaseSignature | None,
    timeline: RunTimeline | None,
) -> None:
    facts, path = load(folder), folder / PAGE_FILE
    kept = load_kept(folder) if predictions is None else predictions
    regions: dict[str, object] = {
        "answer": answer_of(facts, kept),
        "measured": _measured(facts),
    }
    if phases is not None:
        regions["phases"] = phase_rows(phases)
    if timeline is not None:
        replace_file(folder / TIMELINE_FILE, text_of(timeline))
        regions["timeline"] = timeline_view(timeline)
    if with_regions(path, regions):
        return
    signature = folder / SIGNATURE_FILE
    if signature.is_file() and signature.stat().st_size <= _MOST_SIGNATURE:
        write_page(folder)
    else:
        logger.info("%s is of another version; build the skeleton again", path)


def _measured(facts: SkeletonFacts) -> list[Shares]:
    """Return how the skeleton spends its time, as the newest calibration saw it."""
    known = facts.calibration
    if known is None or known.skeleton_computing is None:
        return []
    share = min(known.skeleton_computing, 1.0)
    return [Shares("skeleton", known.skeleton_s, share, 1 - share)]
