"""Workload studies on disk: one YAML file each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from skelgen.documents import Field, read_document, read_json, sealed_yaml
from skelgen.documents.text_of_bytes import escaped
from skelgen.errors import InputError, UsageError
from skelgen.launch.folders import replace_file
from skelgen.models.planning import Range
from skelgen.workload.types import Point, PointPhase, Study

#: Version of the format.
_VERSION = 1
_MOST = 1 << 60
_HEAD = "# A workload study; docs/workload.md of skelgen describes it.\n"
_PHASE = ("key", "site_key", "calls", "events", "weight", "time_s", "recorded_s")
_POINT = ("at", "run", "ranks", "application_s", "phases")
#: What a study takes of the result of ``skelgen measure --json``.
_ENDS = ("p5_s", "p95_s")
_MEASURED = ("paet_s", "verdict", "ranks", "structures", "p5_s", "p95_s")


def load(path: Path) -> Study:
    """Read a study.

    Raises
    ------
    InputError
        When there is none, or it is damaged: one line with file and field.
    """
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file; skelgen workload plan or add writes one"
        )
    document = Field(path, "", read_document(path))
    fields = document.mapping(("skelgen_workload", "command", "ranges", "points"))
    version = fields["skelgen_workload"]
    if version.text() != str(_VERSION):
        raise version.error(f"read {version.text()[:60]!r}, expected {_VERSION}")
    return Study(
        command=tuple(word.text() for word in fields["command"].items()),
        ranges=tuple(
            _range(name, field)
            for name, field in fields["ranges"].mapping(optional=None).items()
        ),
        points=tuple(_point(field) for field in fields["points"].items()),
    )


def save(study: Study, path: Path) -> None:
    """Write a study; equal ones give the same bytes."""
    content = {
        "skelgen_workload": _VERSION,
        "command": list(study.command),
        "ranges": {
            one.name: {"low": one.low, "high": one.high, "whole": one.whole}
            for one in study.ranges
        },
        "points": [_plain(point) for point in study.points],
    }
    text = yaml.safe_dump(
        _written(content), sort_keys=False, allow_unicode=True, width=100
    )
    replace_file(path, sealed_yaml(_HEAD + text))


def _written(value: Any) -> Any:
    """Return plain values with what is not UTF-8 as YAML can hold it."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {escaped(name): _written(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_written(inner) for inner in value]
    return value


def is_measured(path: Path) -> bool:
    """Say whether a file is JSON, as ``skelgen measure --json`` prints it."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")


def load_measured(path: Path) -> tuple[Point, str]:
    """Read what ``skelgen measure --json`` printed, and its verdict.

    Raises
    ------
    InputError
        When it is damaged or something else: one line with file and field.
    """
    document = read_json(path)
    try:
        fields = document.mapping(_MEASURED, optional=None)
    except InputError as error:
        raise InputError(
            f"{error}; expected what skelgen measure --json prints"
        ) from error
    low_s, paet_s, high_s = (
        fields[name].amount() for name in ("p5_s", "paet_s", "p95_s")
    )
    if not 0.0 < low_s <= paet_s <= high_s:
        raise fields["paet_s"].error(
            f"read {paet_s}, expected a time from p5_s ({low_s}) to p95_s ({high_s})"
        )
    known = {name: fields.get(f"measured_{name}", fields[name]) for name in _ENDS}
    width_s = known["p95_s"].amount() - known["p5_s"].amount()
    point = Point(
        at=(),
        run=path.name,
        ranks=fields["ranks"].integer(1, _MOST),
        application_s=paet_s,
        phases=tuple(_phase(one) for one in fields["structures"].items()),
        measured=True,
        half_width=max(0.0, width_s) / (2 * paet_s),
    )
    return point, fields["verdict"].text()


def plain_phases(phases: Iterable[PointPhase]) -> list[dict[str, Any]]:
    """Return phases as lists, dicts and numbers."""
    return [
        {name: getattr(phase, name) for name in _PHASE[:-1]}
        | {"calls": list(phase.calls)}
        | ({"recorded_s": phase.recorded_s} if phase.recorded_s else {})
        for phase in phases
    ]


def _plain(point: Point) -> dict[str, Any]:
    return (
        {name: getattr(point, name) for name in _POINT}
        | {"at": dict(point.at), "phases": plain_phases(point.phases)}
        | ({"measured": True} if point.measured else {})
        | ({"half_width": point.half_width} if point.half_width else {})
        | ({"others": [*map(plain_phases, point.others)]} if point.others else {})
    )


def _range(name: str, field: Field) -> Range:
    parts = field.mapping(("low", "high", "whole"))
    ends = parts["low"].amount(), parts["high"].amount()
    try:
        return Range(name, *ends, parts["whole"].truth())
    except UsageError as error:
        raise field.error(str(error)) from error


def _point(field: Field) -> Point:
    parts = field.mapping(_POINT, ("measured", "others", "half_width"))
    others = parts["others"].items() if "others" in parts else []
    return Point(
        at=tuple(
            (name, value.amount())
            for name, value in parts["at"].mapping(optional=None).items()
        ),
        run=parts["run"].text(),
        ranks=parts["ranks"].integer(1, _MOST),
        application_s=parts["application_s"].amount(),
        phases=tuple(_phase(one) for one in parts["phases"].items()),
        measured="measured" in parts and parts["measured"].truth(),
        others=tuple(tuple(_phase(one) for one in cut.items()) for cut in others),
        half_width=parts["half_width"].amount() if "half_width" in parts else 0.0,
    )


def _phase(field: Field) -> PointPhase:
    parts = field.mapping(_PHASE[:-1], _PHASE[-1:])
    return PointPhase(
        key=parts["key"].text(),
        site_key=parts["site_key"].text(),
        calls=tuple(name.text() for name in parts["calls"].items()),
        events=parts["events"].integer(0, _MOST),
        weight=parts["weight"].integer(1, _MOST),
        time_s=parts["time_s"].amount(),
        recorded_s=parts["recorded_s"].amount() if "recorded_s" in parts else 0.0,
    )
