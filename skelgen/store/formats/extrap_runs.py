"""From Extra-P's measurements to runs with their parts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skelgen.errors import InputError
from skelgen.store.formats.cells import TIME_UNITS
from skelgen.store.formats.columns import split_unit
from skelgen.store.formats.extrap import (
    ARROW,
    NO_METRIC,
    TIME_METRIC,
    VISITS,
    Experiment,
    Point,
)
from skelgen.store.formats.identity import identified
from skelgen.store.formats.limits import LimitError, check_run
from skelgen.store.formats.typed_values import NOTHING, TypedValues
from skelgen.store.rows import Run, RunPart

logger = logging.getLogger(__name__)

#: Fields of a run that are parameters of Extra-P.
COUNT_PARAMETERS = ("ranks", "nodes", "ranks_per_node")
#: A region that takes less than those inside it, by this share, leaves them out [1].
_SLACK = 1e-3


@dataclass(frozen=True, slots=True)
class _Times:
    """The times of all regions.

    Attributes
    ----------
    values : dict
        Repeats of each region at each point [unit of the file].
    metric : str
    factor : float
        Seconds of the unit.
    """

    values: dict[str, dict[Point, list[float]]]
    metric: str
    factor: float


def runs_of(
    file: Path,
    experiment: Experiment,
    mapping: Mapping[str, str],
    known: TypedValues = NOTHING,
) -> list[Run]:
    """Return a run for each repeat at each point.

    A region that all others are inside of is the run, and its name that of the
    application. Else the run is the sum of its regions. Times of regions hold those
    inside them unless they are shorter than these.

    Parameters
    ----------
    file : Path
        For messages.
    experiment : Experiment
    mapping : mapping
        ``time`` names the metric (``time_ms`` one in milliseconds), ``ranks``,
        ``nodes`` and ``ranks_per_node`` parameters, other names inputs.
    known : TypedValues
        What holds for all runs.

    Raises
    ------
    InputError
        When it has other parameters or metrics.
    """
    names = _names(file, experiment, mapping)
    times = _times(file, experiment, mapping)
    root = _root(list(times.values))
    holds = _holds_inner(times)
    visits = _repeats_of(experiment, VISITS)
    runs = []
    for point in experiment.points:
        counts = {
            len(values[point]) for values in times.values.values() if point in values
        }
        for repeat in range(max(counts, default=0)):
            shares = {
                region: _repeat(values[point], repeat) * times.factor
                for region, values in times.values.items()
                if values.get(point)
            }
            weights = {
                region: _repeat(values[point], repeat)
                for region, values in visits.items()
                if values.get(point)
            }
            run = _run(shares, weights, root, holds=holds)
            runs.append(_complete(file, run, zip(names, point, strict=True), known))
    return list(identified(runs, file.name))


def _names(file: Path, experiment: Experiment, mapping: Mapping[str, str]) -> list[str]:
    """Return what each parameter is: a count of a run, or an input."""
    given = {
        header: name for name, header in mapping.items() if _base(name) != TIME_METRIC
    }
    for header, name in given.items():
        if header not in experiment.parameters:
            raise InputError(
                f"{file}: has no parameter {header!r} for {name}; it has "
                f"{', '.join(experiment.parameters)}; name one with --columns "
                f"{name}=..."
            )
    return [given.get(name, name) for name in experiment.parameters]


def _base(name: str) -> str:
    return split_unit(name)[0]


def _times(file: Path, experiment: Experiment, mapping: Mapping[str, str]) -> _Times:
    """Choose the metric that is the time."""
    metrics = experiment.metrics
    asked = [
        (name, metric) for name, metric in mapping.items() if _base(name) == TIME_METRIC
    ]
    if asked:
        name, metric = asked[0]
        if metric not in metrics:
            raise InputError(
                f"{file}: has no metric {metric!r} for {name}; it has "
                f"{', '.join(metrics)}; name one with --columns {name}=..."
            )
        unit = split_unit(name)[1] or split_unit(metric)[1]
    else:
        alike = [one for one in metrics if _base(one).lower() == TIME_METRIC]
        if len(alike) != 1 and metrics != [NO_METRIC]:
            raise InputError(
                f"{file}: no metric or several say the time; it has "
                f"{', '.join(metrics)}; name one, such as --columns time={metrics[0]}"
            )
        metric = alike[0] if alike else NO_METRIC
        unit = split_unit(metric)[1]
    _tell_others(file, metrics, metric)
    values = _repeats_of(experiment, metric)
    _check_times(file, values)
    return _Times(values, metric, TIME_UNITS[unit] if unit else 1.0)


def _check_times(file: Path, times: Mapping[str, Mapping[Point, list[float]]]) -> None:
    for region, points in times.items():
        for point, values in points.items():
            if not values or min(values) < 0:
                found = f"is {min(values):g}" if values else "has no value"
                raise InputError(
                    f"{file}: the time of {region[:60]!r} at "
                    f"({', '.join(f'{one:g}' for one in point)}) {found}, expected a "
                    "number of at least 0"
                )


def _tell_others(file: Path, metrics: Sequence[str], metric: str) -> None:
    others = [one for one in metrics if one not in (metric, VISITS)]
    if others:
        logger.info("%s: metrics left out: %s", file, ", ".join(others))


def _repeats_of(
    experiment: Experiment, metric: str
) -> dict[str, dict[Point, list[float]]]:
    return {
        region: points
        for (region, name), points in experiment.values.items()
        if name == metric
    }


def _repeat(values: Sequence[float], number: int) -> float:
    """Return a repeat; the last one where there are fewer than of other regions."""
    return values[min(number, len(values) - 1)]


def _parent(region: str, regions: Mapping[str, object]) -> str | None:
    """Return the nearest region that a region is inside of."""
    path = region
    while ARROW in path:
        path = path.rpartition(ARROW)[0]
        if path in regions:
            return path
    return None


def _root(regions: Sequence[str]) -> str | None:
    """Return the region that all others are inside of."""
    known = dict.fromkeys(regions)
    tops = [region for region in regions if _parent(region, known) is None]
    return tops[0] if len(tops) == 1 else None


def _holds_inner(times: _Times) -> bool:
    """Say whether the time of a region holds that of regions inside it."""
    inner: dict[str, list[str]] = {}
    for region in times.values:
        parent = _parent(region, times.values)
        if parent is not None:
            inner.setdefault(parent, []).append(region)
    return all(
        value * (1 + _SLACK)
        >= sum(
            _repeat(times.values[one][point], number)
            for one in inside
            if times.values[one].get(point)
        )
        for region, inside in inner.items()
        for point, values in times.values[region].items()
        for number, value in enumerate(values)
    )


def _run(
    shares: Mapping[str, float],
    weights: Mapping[str, float],
    root: str | None,
    *,
    holds: bool,
) -> Run:
    """Make a run of the times of its regions [s]."""
    tops = [one for one in shares if _parent(one, shares) is None]
    whole = sum(shares[one] for one in (tops if holds else shares))
    parts = tuple(
        _part(region, time_s, weights.get(region, 1.0), whole, root)
        for region, time_s in shares.items()
        if region != root
    )
    return Run(root or "", whole, parts=parts)


def _part(
    region: str, time_s: float, weight: float, whole: float, root: str | None
) -> RunPart:
    name = region.removeprefix(f"{root}{ARROW}") if root else region
    often = weight if weight > 0 else 1.0
    share = time_s / whole if whole else 0.0
    return RunPart(name, "function", time_s / often, often, share)


def _complete(
    file: Path, run: Run, values: Iterator[tuple[str, float]], known: TypedValues
) -> Run:
    """Put parameters and what was typed into a run."""
    counts: dict[str, int] = {}
    inputs: list[tuple[str, float | str]] = []
    for name, value in values:
        if name not in COUNT_PARAMETERS:
            inputs.append((name.removeprefix("input."), value))
        elif value != int(value):
            raise InputError(f"{file}: {name} is {value:g}, expected an integer")
        else:
            counts[name] = int(value)
    found = replace(
        run,
        application=known.application or run.application,
        inputs=tuple(sorted(inputs)),
        source=file.name,
        ranks=counts.get("ranks", 0),
        nodes=counts.get("nodes", 0),
        ranks_per_node=counts.get("ranks_per_node", 0),
    )
    found = known.complete(found)
    try:
        return check_run(found)
    except LimitError as error:
        raise InputError(f"{file}: {error}") from error
