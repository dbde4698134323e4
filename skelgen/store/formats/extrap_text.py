"""Extra-P's text format, read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from skelgen.documents.numbers import NumberError, format_real, real
from skelgen.errors import InputError, UsageError
from skelgen.store.formats.extrap import (
    MOST_PARAMETERS,
    NO_METRIC,
    NO_REGION,
    Experiment,
    Point,
)
from skelgen.store.formats.limits import LimitError, check_number, check_word

_TAGS = ("PARAMETER", "POINTS", "REGION", "METRIC", "DATA")
#: How such a file begins, after comments.
EXTRAP_BEGINS = re.compile(r"(\s|#[^\n]*\n)*(PARAMETER|POINTS)[ \t]")
#: ``(1 2)``, and ``((1) (2))`` as the documentation has it.
_POINT = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")
_PLAIN = re.compile(r"\S+( \S+)*")


@dataclass
class _State:
    """What was read so far."""

    file: Path
    parameters: list[str] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    region: str = NO_REGION
    metric: str = NO_METRIC
    at: int = 0
    found: Experiment | None = None


def read_text(file: Path, text: str) -> Experiment:
    """Read a file of text.

    Parameters
    ----------
    file : Path
        For messages.
    text : str

    Raises
    ------
    InputError
        With the line.
    """
    state = _State(file)
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        tag, _, rest = line.strip().partition(" ")
        try:
            _take(state, tag, " ".join(rest.split()))
        except (LimitError, NumberError) as error:
            raise InputError(f"{file}: line {number}: {error}") from error
    if state.found is None:
        raise InputError(f"{file}: holds no DATA; expected measurements of Extra-P")
    return state.found


def _take(state: _State, tag: str, rest: str) -> None:
    """Take a line."""
    if tag not in _TAGS:
        raise LimitError(f"read {tag[:60]!r}, expected one of {', '.join(_TAGS)}")
    if not rest:
        raise LimitError(f"read nothing after {tag}")
    if tag == "REGION":
        state.region, state.at = check_word(rest), 0
    elif tag == "METRIC":
        state.metric, state.at = check_word(rest), 0
    elif tag == "DATA":
        _data(state, [_number(word) for word in rest.split()])
    elif state.found is not None:
        raise LimitError(f"read {tag} after DATA; parameters and points come first")
    elif tag == "PARAMETER":
        _parameters(state, rest.split())
    else:
        state.points += _points(rest, len(state.parameters))


def _parameters(state: _State, names: list[str]) -> None:
    for name in names:
        if check_word(name) in state.parameters:
            raise LimitError(f"the parameter {name[:60]!r} is there twice")
        state.parameters.append(name)
    if state.points:
        raise LimitError("read PARAMETER after POINTS; parameters come first")
    if len(state.parameters) > MOST_PARAMETERS:
        raise LimitError(
            f"read {len(state.parameters)} parameters, expected at most "
            f"{MOST_PARAMETERS}"
        )


def _points(text: str, parameters: int) -> Iterator[Point]:
    if not parameters:
        raise LimitError("read POINTS before any PARAMETER")
    written = _POINT.findall(text) if "(" in text else text.split()
    if "(" in text and _POINT.sub("", text).strip():
        raise LimitError(f"read {text[:60]!r}, expected points such as (1 10) (2 10)")
    for numbers in written:
        values = tuple(map(_number, re.sub(r"[()]", " ", numbers).split()))
        if len(values) != parameters:
            raise LimitError(
                f"read the point ({numbers.strip()[:60]}) with {len(values)} values, "
                f"expected {parameters}: one for each parameter"
            )
        yield values


def _data(state: _State, values: list[float]) -> None:
    if state.found is None:
        state.found = Experiment(tuple(state.parameters))
    if state.at >= len(state.points):
        raise LimitError(
            f"read more DATA than POINTS ({len(state.points)}) for region "
            f"{state.region[:60]!r}"
        )
    state.found.add(state.region, state.metric, state.points[state.at], values)
    state.at += 1


def _number(word: str) -> float:
    return check_number(real(word))


def experiment_text(experiment: Experiment) -> str:
    """Write measurements as text.

    Raises
    ------
    UsageError
        When the format cannot hold them.
    """
    parameters = experiment.parameters
    if len(parameters) > MOST_PARAMETERS:
        raise UsageError(
            f"Extra-P's text has at most {MOST_PARAMETERS} parameters, these runs have "
            f"{', '.join(parameters)}; choose runs with --where, or write "
            "--format extrap-json"
        )
    for name in (*parameters, *experiment.regions, *experiment.metrics):
        if not _fits(name) or (name in parameters and " " in name):
            raise UsageError(
                f"the name {name!r} has spaces or newlines that Extra-P's text cannot "
                "hold, or is not UTF-8; write --format extrap-json"
            )
    points = experiment.points
    lines = [f"PARAMETER {name}" for name in parameters]
    lines += ["POINTS " + " ".join(map(_point, points))]
    for (region, metric), values in experiment.values.items():
        lines += ["", f"REGION {region}", f"METRIC {metric}"]
        lines += [
            f"DATA {' '.join(map(format_real, values[point]))}" for point in points
        ]
    return "\n".join(lines) + "\n"


def _fits(name: str) -> bool:
    try:
        name.encode()
    except UnicodeError:
        return False
    return name.isprintable() and _PLAIN.fullmatch(name) is not None


def _point(point: Point) -> str:
    return f"({' '.join(map(format_real, point))})"
