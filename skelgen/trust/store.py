"""The file of the methods' errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from skelgen.documents import Field, read_document, sealed_yaml
from skelgen.trust.errors import MethodError, MethodErrors
from skelgen.trust.types import OWN_CORES, SHARED_CORES

#: Version of the format.
_VERSION = 1
_HEAD = "# Errors of methods; docs/trust.md of skelgen describes it.\n"
#: How the file begins.
METHOD_ERRORS_BEGIN = re.compile(rb"(#[^\n]*\n)?# Errors of methods;")
_MOST = 1 << 40
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class ErrorProvenance:
    """Where errors come from.

    Attributes
    ----------
    command : str
        What wrote the file.
    date : str
    results : tuple of str
        Names of the files that it was learnt from.
    """

    command: str
    date: str
    results: tuple[str, ...]


def as_text(errors: MethodErrors, provenance: ErrorProvenance) -> str:
    """Write errors; equal ones give the same text."""
    content = {
        "skelgen_method_errors": _VERSION,
        "provenance": {
            "command": provenance.command,
            "date": provenance.date,
            "results": list(provenance.results),
        },
        "methods": [_plain(one) for one in errors.entries],
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return sealed_yaml(_HEAD + text)


def _plain(one: MethodError) -> dict[str, Any]:
    return {
        name: round(value, _DIGITS) if isinstance(value, float) else value
        for name, value in asdict(one).items()
    }


def load(path: Path) -> tuple[MethodErrors, ErrorProvenance]:
    """Read errors, and where they come from.

    Raises
    ------
    InputError
        When the file is missing, damaged or something else: one line with its field.
    """
    document = Field(path, "", read_document(path))
    parts = document.mapping(("skelgen_method_errors", "provenance", "methods"))
    version = parts["skelgen_method_errors"]
    if version.text() != str(_VERSION):
        raise version.error(f"read {version.text()[:60]!r}, expected {_VERSION}")
    origin = parts["provenance"].mapping(("command", "date", "results"))
    entries = parts["methods"].items()
    if not entries:
        raise parts["methods"].error("read no method, expected at least one")
    return MethodErrors(tuple(map(_entry, entries))), ErrorProvenance(
        origin["command"].text(),
        origin["date"].text(),
        origin["results"].texts(),
    )


def _entry(field: Field) -> MethodError:
    required = [one.name for one in fields(MethodError) if one.default is MISSING]
    parts = field.mapping(required, ["cores"])
    return MethodError(
        method=parts["method"].text(),
        family=parts["family"].text(),
        half_width=_at_most(parts["half_width"], 10.0),
        within=_at_most(parts["within"], 10.0),
        truth_over_predicted=_at_most(parts["truth_over_predicted"], 1e6),
        applications=parts["applications"].integer(1, _MOST),
        cases=parts["cases"].integer(1, _MOST),
        held=_at_most(parts["held"], 1.0),
        least_held=_at_most(parts["least_held"], 1.0),
        least_application=parts["least_application"].text(),
        widened=parts["widened"].truth(),
        cores=read_cores(parts.get("cores")),
    )


def read_cores(field: Field | None) -> str:
    """Read whether cores were shared; empty where a file does not say it.

    Raises
    ------
    InputError
        When it is something else.
    """
    known = ("", OWN_CORES, SHARED_CORES)
    if field is None:
        return ""
    if (cores := field.text()) not in known:
        expected = f"{OWN_CORES} or {SHARED_CORES}"
        raise field.error(f"read {cores[:60]!r}, expected {expected}")
    return cores


def _at_most(field: Field, most: float) -> float:
    number = field.amount()
    if number > most:
        raise field.error(f"read {number}, expected at most {most:g}")
    return number


def names(results: Sequence[Path]) -> tuple[str, ...]:
    """Return the names of files, without the folders of the machine."""
    return tuple(path.name for path in results)
