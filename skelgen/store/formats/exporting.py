"""Rows as files: JSON lines for `git diff`, CSV, and Extra-P's formats."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from skelgen.errors import UsageError
from skelgen.store.formats.csv_text import csv_text
from skelgen.store.formats.extrap import Experiment
from skelgen.store.formats.extrap_experiment import experiment_of
from skelgen.store.formats.extrap_json import experiment_json
from skelgen.store.formats.extrap_text import experiment_text
from skelgen.store.kinds import kind_of, kinds
from skelgen.store.lines import to_line
from skelgen.store.rows import Row, Run, Series

_DAY_S = 86400.0
#: Names of files that skelgen writes, and how these begin.
EXPORT_BEGINS = re.compile(rb'\{"row": |app,time_s|PARAMETER |\{\n "parameters": |\Z')
_UNFIT = re.compile(r"[^\w.+-]")


class StoreFormat(StrEnum):
    """What a store is exported as."""

    JSONL = "jsonl"
    CSV = "csv"
    EXTRAP_TEXT = "extrap-text"
    EXTRAP_JSON = "extrap-json"


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file to write.

    Attributes
    ----------
    name : str
    text : str
    rows : int
        That it holds.
    """

    name: str
    text: str
    rows: int


def files_of(rows: Iterable[Row], format_: StoreFormat) -> list[ExportedFile]:
    """Return the files that hold rows.

    The same rows give the same bytes, in whatever order they come.

    Parameters
    ----------
    rows : iterable of Row
    format_ : StoreFormat
        All but JSON lines hold runs alone.

    Raises
    ------
    UsageError
        When the format cannot hold them.
    """
    if format_ is StoreFormat.JSONL:
        return _json_lines(rows)
    runs = sorted((one for one in rows if isinstance(one, Run)), key=_order)
    if not runs:
        raise UsageError("there is no such run to export; skelgen store list shows all")
    if format_ is StoreFormat.CSV:
        return [ExportedFile("runs.csv", csv_text(runs), len(runs))]
    return _extrap(runs, format_)


def names_of(format_: StoreFormat) -> list[str]:
    """Return the names of all files that a format may write, whatever the runs."""
    if format_ is StoreFormat.JSONL:
        return [_file_name(word) for word in kinds()]
    return ["runs.csv"] if format_ is StoreFormat.CSV else []


def _file_name(word: str) -> str:
    return f"{word}.jsonl" if word.endswith("s") else f"{word}s.jsonl"


def _order(run: Run) -> tuple[object, ...]:
    unknown = math.isnan(run.started)
    return run.application, unknown, 0.0 if unknown else run.started, run.identity


def _json_lines(rows: Iterable[Row]) -> list[ExportedFile]:
    lines: dict[str, list[tuple[tuple[object, ...], str]]] = {}
    for row in rows:
        word = kind_of(type(row)).word
        for part in days_of(row) if isinstance(row, Series) else (row,):
            text = json.dumps(to_line(part), allow_nan=False)
            key = (*_order(row), text) if isinstance(row, Run) else (text,)
            lines.setdefault(word, []).append((key, text))
    found = []
    for word, keyed in sorted(lines.items()):
        texts = [text for _, text in sorted(keyed)]
        found.append(
            ExportedFile(_file_name(word), "\n".join(texts) + "\n", len(texts))
        )
    return found


def days_of(series: Series) -> Iterable[Series]:
    """Cut a series by days, so that a new day is a new line."""
    days: dict[float, list[tuple[float, float]]] = {}
    for time, value in zip(series.times, series.values, strict=True):
        days.setdefault(time // _DAY_S, []).append((time, value))
    for samples in days.values():
        times, values = zip(*samples, strict=True)
        yield replace(series, times=times, values=values)


def _extrap(runs: Sequence[Run], format_: StoreFormat) -> list[ExportedFile]:
    by_application: dict[str, list[Run]] = {}
    for run in runs:
        if run.status == "ok":
            by_application.setdefault(run.application, []).append(run)
    if not by_application:
        raise UsageError("no run ended well; Extra-P has no place for others")
    writers: Mapping[StoreFormat, tuple[str, Callable[[Experiment], str]]] = {
        StoreFormat.EXTRAP_TEXT: (".txt", experiment_text),
        StoreFormat.EXTRAP_JSON: (".json", experiment_json),
    }
    ending, write = writers[format_]
    names: dict[str, None] = {}
    found = []
    for application, own in by_application.items():
        name = begin = _UNFIT.sub("_", application)[:100].lstrip(".-") or "application"
        number = 1
        while name in names:
            number += 1
            name = f"{begin}-{number}"
        names[name] = None
        experiment = experiment_of(own, text=format_ is StoreFormat.EXTRAP_TEXT)
        found.append(ExportedFile(name + ending, write(experiment), len(own)))
    return found
