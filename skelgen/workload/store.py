"""Workload studies on disk: one YAML file each."""

from __future__ import annotations

from pathlib import Path

import yaml

from skelgen.errors import InputError, UsageError
from skelgen.launch.folders import replace_file
from skelgen.models import Range
from skelgen.signature.document import read_document
from skelgen.signature.field import Field
from skelgen.workload.types import Point, PointPhase, Study

#: Version of the format.
VERSION = 1
_MOST = 1 << 60
_HEAD = "# A workload study; docs/workload.md of skelgen describes it.\n"
_PHASE = ("key", "site_key", "calls", "events", "weight", "time_s")
_POINT = ("at", "run", "ranks", "application_s", "phases")


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
    if version.text() != str(VERSION):
        raise version.error(f"read {version.text()[:60]!r}, expected {VERSION}")
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
        "skelgen_workload": VERSION,
        "command": list(study.command),
        "ranges": {
            one.name: {"low": one.low, "high": one.high, "whole": one.whole}
            for one in study.ranges
        },
        "points": [_plain(point) for point in study.points],
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    replace_file(path, _HEAD + text)


def _plain(point: Point) -> dict[str, object]:
    phases = [
        {name: getattr(phase, name) for name in _PHASE} | {"calls": list(phase.calls)}
        for phase in point.phases
    ]
    return {name: getattr(point, name) for name in _POINT} | {
        "at": dict(point.at),
        "phases": phases,
    }


def _range(name: str, field: Field) -> Range:
    parts = field.mapping(("low", "high", "whole"))
    whole = parts["whole"].text()
    if whole not in ("true", "false"):
        raise parts["whole"].error(f"read {whole[:60]!r}, expected true or false")
    ends = parts["low"].amount(), parts["high"].amount()
    try:
        return Range(name, *ends, whole == "true")
    except UsageError as error:
        raise field.error(str(error)) from error


def _point(field: Field) -> Point:
    parts = field.mapping(_POINT)
    return Point(
        at=tuple(
            (name, value.amount())
            for name, value in parts["at"].mapping(optional=None).items()
        ),
        run=parts["run"].text(),
        ranks=parts["ranks"].integer(1, _MOST),
        application_s=parts["application_s"].amount(),
        phases=tuple(_phase(one) for one in parts["phases"].items()),
    )


def _phase(field: Field) -> PointPhase:
    parts = field.mapping(_PHASE)
    return PointPhase(
        key=parts["key"].text(),
        site_key=parts["site_key"].text(),
        calls=tuple(name.text() for name in parts["calls"].items()),
        events=parts["events"].integer(0, _MOST),
        weight=parts["weight"].integer(1, _MOST),
        time_s=parts["time_s"].amount(),
    )
