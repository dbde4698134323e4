"""From runs with their parts to measurements as Extra-P keeps them."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from skelgen.errors import UsageError
from skelgen.store.formats.extrap import (
    ARROW,
    MOST_PARAMETERS,
    TIME_METRIC,
    VISITS,
    Experiment,
)
from skelgen.store.formats.extrap_runs import COUNT_PARAMETERS
from skelgen.store.rows import Run

logger = logging.getLogger(__name__)


def experiment_of(runs: Sequence[Run], *, text: bool) -> Experiment:
    """Return runs of one application as measurements.

    Inputs that are numbers in all runs are parameters, and so are ranks, nodes and
    ranks per node. Parts that some run lacks are left out: Extra-P needs all points.

    Parameters
    ----------
    runs : sequence of Run
        At least one.
    text : bool
        Leave out parameters that never change where there are more than text takes.

    Raises
    ------
    UsageError
        When the runs differ in what Extra-P cannot hold.
    """
    names = _parameters(runs)
    if text and len(names) > MOST_PARAMETERS:
        names = [
            name for name in names if len({_values(one)[name] for one in runs}) > 1
        ]
    if not names:
        raise UsageError(
            "Extra-P needs a parameter, and these runs have no input and no ranks; add "
            "them with --input or --ranks"
        )
    found = Experiment(tuple(names))
    parts = _common_parts(runs)
    weighted = any(one.weight != 1 for run in runs for one in run.parts)
    for run in runs:
        values = _values(run)
        point = tuple(values[name] for name in names)
        found.add(run.application, TIME_METRIC, point, [run.time_s])
        for part in run.parts:
            if part.name not in parts:
                continue
            region = f"{run.application}{ARROW}{part.name}"
            found.add(region, TIME_METRIC, point, [part.time_s * part.weight])
            if weighted:
                found.add(region, VISITS, point, [part.weight])
    return found


def _values(run: Run) -> dict[str, float]:
    """Return the parameters of a run."""
    counts = {name: float(getattr(run, name)) for name in COUNT_PARAMETERS}
    numbers = {name: value for name, value in run.inputs if not isinstance(value, str)}
    clash = set(numbers) & set(counts)
    named = {f"input.{n}" if n in clash else n: value for n, value in numbers.items()}
    return {**named, **{name: value for name, value in counts.items() if value}}


def _parameters(runs: Sequence[Run]) -> list[str]:
    words: dict[str, set[object]] = {}
    for run in runs:
        for name, value in run.inputs:
            words.setdefault(name, set()).add(value)
    for name, values in words.items():
        if len(values) > 1 and any(isinstance(value, str) for value in values):
            shown = ", ".join(sorted(map(str, values))[:5])
            raise UsageError(
                f"the input {name} is a word ({shown}) and Extra-P takes numbers; "
                f"choose runs of one, such as --where {name}={min(map(str, values))}"
            )
    common = set.intersection(*(set(_values(run)) for run in runs))
    lacking = sorted({name for run in runs for name in _values(run)} - common)
    if lacking:
        raise UsageError(
            f"some runs lack {', '.join(lacking)}, and Extra-P needs all parameters of "
            f"all points; choose runs, such as --where '{lacking[0]}>0'"
        )
    return sorted(common, key=lambda name: (name in COUNT_PARAMETERS, name))


def _common_parts(runs: Sequence[Run]) -> set[str]:
    common = set.intersection(*({part.name for part in run.parts} for run in runs))
    others = {part.name for run in runs for part in run.parts} - common
    if others:
        logger.warning(
            "%s: %d parts left out, for not all runs have them",
            runs[0].application,
            len(others),
        )
    return common
