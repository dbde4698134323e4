"""Say which run to make next for a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skelgen.errors import UsageError
from skelgen.models.families.contract import FamilySettings
from skelgen.models.model import Model
from skelgen.models.next_run import NextRun, next_runs, round_values
from skelgen.pipeline.fitted_models import check_asked, known_model
from skelgen.pipeline.model import (
    RunSource,
)
from skelgen.progress import Progress

#: Values between the ends of a range.
_VALUES = 9


def values_to_run(
    ranges: Sequence[str], ranks: str = ""
) -> dict[str, tuple[float, ...]]:
    """Read ``n=1000:20000`` (a range) or ``n=1000,2000`` (values), and ``4,8,16``.

    Raises
    ------
    UsageError
    """
    found: dict[str, tuple[float, ...]] = {}
    for option, text in [
        *(("--range", one) for one in ranges),
        *([("--ranks", f"ranks={ranks}")] if ranks else []),
    ]:
        name, equals, rest = text.partition("=")
        parts = rest.split(":" if ":" in rest else ",")
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            numbers = []
        good = [number for number in numbers if 0.0 < number < 1e30]
        pair = ":" in rest
        if (
            not (name.strip() and equals and good)
            or len(good) != len(parts)
            or (pair and (len(good) != 2 or good[0] >= good[1]))
        ):
            raise UsageError(
                f"{option}: read {text[:60]!r}, expected a range such as "
                "n=1000:20000 or values such as n=1000,2000,4000"
            )
        if name.strip() in found:
            raise UsageError(f"{option}: {name.strip()} is given twice")
        found[name.strip()] = (
            round_values(good[0], good[1], _VALUES) if pair else tuple(good)
        )
    return found


def model_next(
    source: RunSource,
    family: str,
    values: Mapping[str, Sequence[float]],
    at: Mapping[str, float] | None = None,
    *,
    longest_s: float,
    progress: Progress,
    settings: FamilySettings | None = None,
) -> tuple[Model, list[NextRun]]:
    """Return a model and runs that would narrow its intervals, the best first.

    Parameters
    ----------
    source : RunSource
    family : str
    values : mapping of str to sequence of float
        What can be run.
    at : mapping of str to float, optional
        What the model is for.
    longest_s : float
        [s]
    progress : Progress
    settings : FamilySettings, optional
    """
    model = known_model(source, family, progress=progress, settings=settings)
    check_asked(model, at or {})
    return model, next_runs(model, values, at, longest_s=longest_s)
