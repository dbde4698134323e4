"""Let families of models compete on the runs of a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skelgen.models.comparing import FamilyScore, compare, not_told
from skelgen.models.families.contract import FamilySettings
from skelgen.models.quantities import Quantity
from skelgen.models.run_quantities import of_runs
from skelgen.pipeline.model import (
    RunSource,
    check_families,
    good_runs,
    other_numbers,
    table_of,
)
from skelgen.progress import Progress


def model_compare(
    source: RunSource,
    families: Sequence[str],
    quantity: Quantity,
    *,
    progress: Progress,
    told: Mapping[str, FamilySettings] | None = None,
) -> list[FamilyScore]:
    """Compare families, and those that are told a formula, on the runs of a source."""
    chosen = list(families) or list(not_told())
    chosen += [name for name in told or () if name not in chosen]
    check_families(chosen)
    runs = good_runs(source, progress)
    table = table_of(runs, source)
    measured = of_runs(table, quantity, other_numbers(runs, table))
    scores = []
    progress.start("comparing families", len(chosen))
    for score in compare(table, chosen, told, measured=measured):
        scores.append(score)
        progress.advance(1)
    progress.finish()
    return scores
