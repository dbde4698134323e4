"""Write the page of a skeleton's folder again, with what was measured since."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.launch.folders import replace_file
from skelgen.pipeline.signatures import SIGNATURE_FILE

if TYPE_CHECKING:
    from skelgen.prediction.skeleton_runs import SkeletonProgram
    from skelgen.web import Comparison

PAGE_FILE = "report.html"


def write_page(
    folder: Path,
    comparisons: Sequence[Comparison] = (),
    *,
    ready: SkeletonProgram | None = None,
) -> Path:
    """Set the skeleton's measured shares of time beside the application's.

    Parameters
    ----------
    folder : Path
        Of a skeleton; the skeleton is run once.
    comparisons : sequence of Comparison
        Predictions to show.
    ready : SkeletonProgram, optional
        The skeleton, where it was prepared already.

    Returns
    -------
    Path
        Of the page.
    """
    from skelgen.pipeline.launches import ready_skeleton
    from skelgen.prediction.store import load
    from skelgen.signature import store
    from skelgen.skeleton.methods import planner
    from skelgen.web import Shares, page_of, render_page

    facts = load(folder)
    signature = store.load(folder / SIGNATURE_FILE)
    report = planner(facts.method)(signature, facts.scaling_factor).report
    ready = ready or ready_skeleton(folder, facts)
    shares = Shares("skeleton", *ready.reference_shares())
    page = page_of(
        signature,
        report,
        scaling_factor=facts.scaling_factor,
        method=facts.method,
        measured=[shares],
        comparisons=comparisons,
    )
    path = folder / PAGE_FILE
    replace_file(path, render_page(page))
    return path
