"""A calibration as ``skeleton.json`` has it: the fields of its type, as JSON."""

from __future__ import annotations

from dataclasses import MISSING, fields

from skelgen.documents import Field
from skelgen.documents.document_field import FieldReaders, read_given
from skelgen.launch.secrets import hidden
from skelgen.prediction.types import Calibration

_MOST_RUNS = 1 << 40


def read_ratio(field: Field) -> Calibration:
    """Read a calibration; what older ones lack has its default.

    Raises
    ------
    InputError
        When it is none.
    """
    required = [one.name for one in fields(Calibration) if one.default is MISSING]
    parts = field.mapping(required, optional=None)
    return Calibration(
        application_runs_s=_times_s(parts["application_runs_s"]),
        skeleton_runs_s=_times_s(parts["skeleton_runs_s"]),
        host=parts["host"].text(),
        mpi=parts["mpi"].text(),
        load=parts["load"].numbers(),
        recorded=parts["recorded"].truth(),
        **read_given(parts, _OF_CALIBRATION),
    )


def _pair(field: Field) -> tuple[str, str]:
    words = field.texts()
    if len(words) != 2:
        raise field.error(f"read {len(words)} words, expected a path and a hash")
    return words[0], words[1]


def _times_s(field: Field) -> tuple[float, ...]:
    times_s = tuple(one.positive() for one in field.items())
    if not times_s:
        raise field.error("read an empty list, expected the times of runs")
    return times_s


_OF_CALIBRATION: FieldReaders = {
    "application_lost_s": Field.numbers,
    "skeleton_lost_s": Field.numbers,
    "date": Field.text,
    "command": lambda field: hidden(field.texts()),
    "files": lambda field: tuple(_pair(one) for one in field.items()),
    "hosts": Field.texts,
    "skeleton_computing": lambda field: None if field.is_null() else field.amount(),
    "skeleton_computed_s": Field.numbers,
    "disturbed": lambda field: tuple(
        one.integer(0, _MOST_RUNS) for one in field.items()
    ),
}
