"""Extra-P's JSON formats: the newer and the older one, and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeVar

from skelgen.documents import Field
from skelgen.store.formats.extrap import NO_METRIC, NO_REGION, Experiment, Point
from skelgen.store.formats.limits import LimitError, check_number, check_word

_OLDER = ("callpaths", "coordinates", "measurements", "metrics", "parameters")
_MOST = 1 << 50
_T = TypeVar("_T")


def is_experiment(field: Field) -> bool:
    """Say whether JSON is one of Extra-P's documents."""
    value = field.value
    return isinstance(value, dict) and {"parameters", "measurements"} <= value.keys()


def is_measurement(field: Field) -> bool:
    """Say whether JSON is a line of Extra-P's JSON lines."""
    value = field.value
    return isinstance(value, dict) and {"params", "value"} <= value.keys()


def read_document(field: Field) -> Experiment:
    """Read a document of either version.

    Raises
    ------
    InputError
        With the place in the document.
    """
    if "callpaths" in field.mapping(optional=None):
        return _older(field)
    fields = field.mapping(("parameters", "measurements"), optional=None)
    found = Experiment(_names(fields["parameters"].items()))
    for region, metrics in fields["measurements"].mapping(optional=None).items():
        _word(metrics, region)
        for metric, points in metrics.mapping(optional=None).items():
            _word(points, metric)
            for one in points.items():
                parts = one.mapping(("point", "values"), optional=None)
                point = _point(parts["point"], found)
                found.add(region, metric, point, _numbers(parts["values"]))
    return _whole(field, found)


def _names(fields: Sequence[Field]) -> tuple[str, ...]:
    names: list[str] = []
    for field in fields:
        name = _word(field, field.text())
        if name in names:
            raise field.error(f"the parameter {name[:60]!r} is there twice")
        names.append(name)
    return tuple(names)


def _point(field: Field, found: Experiment) -> Point:
    point = tuple(_numbers(field))
    if len(point) != len(found.parameters):
        raise field.error(
            f"read {len(point)} values, expected {len(found.parameters)}: one for each "
            "parameter"
        )
    return point


def _numbers(field: Field) -> list[float]:
    return [_number(one) for one in field.items()]


def _number(field: Field) -> float:
    try:
        return check_number(field.number())
    except LimitError as error:
        raise field.error(str(error)) from error


def _word(field: Field, text: str) -> str:
    try:
        return check_word(text)
    except LimitError as error:
        raise field.error(str(error)) from error


def _whole(field: Field, found: Experiment) -> Experiment:
    if not found.parameters or not found.points:
        raise field.error("holds no parameter or no point; expected measurements")
    return found


def _older(field: Field) -> Experiment:
    """Read the version whose parts refer to each other by numbers."""
    fields = field.mapping(_OLDER, optional=None)
    parameters, regions, metrics = (
        _by_id(fields[name], "name") for name in ("parameters", "callpaths", "metrics")
    )
    order = sorted(parameters)
    found = Experiment(_names([parameters[one] for one in order]))
    points = {
        number: _older_point(one, order)
        for number, one in _by_id(
            fields["coordinates"], "parameter_value_pairs"
        ).items()
    }
    names = {
        "callpath_id": {n: _word(one, one.text()) for n, one in regions.items()},
        "metric_id": {n: _word(one, one.text()) for n, one in metrics.items()},
    }
    for one in fields["measurements"].items():
        parts = one.mapping((*names, "coordinate_id", "value"), optional=None)
        region, metric = (
            _referred(parts[name], known) for name, known in names.items()
        )
        point = _referred(parts["coordinate_id"], points)
        found.add(region, metric, point, [_number(parts["value"])])
    return _whole(field, found)


def _by_id(field: Field, wanted: str) -> dict[int, Field]:
    found: dict[int, Field] = {}
    for one in field.items():
        parts = one.mapping(("id", wanted), optional=None)
        found[parts["id"].integer(-_MOST, _MOST)] = parts[wanted]
    return found


def _older_point(field: Field, order: Sequence[int]) -> Point:
    values = {}
    for one in field.items():
        parts = one.mapping(("parameter_id", "parameter_value"), optional=None)
        number = parts["parameter_id"].integer(-_MOST, _MOST)
        values[number] = _number(parts["parameter_value"])
    if sorted(values) != list(order):
        raise field.error("expected one value for each parameter")
    return tuple(values[number] for number in order)


def _referred(field: Field, known: Mapping[int, _T]) -> _T:
    number = field.integer(-_MOST, _MOST)
    if number not in known:
        raise field.error(f"read {number}, which no part of the file has as its id")
    return known[number]


def read_lines(lines: Sequence[tuple[int, Field]]) -> Experiment:
    """Read JSON lines: a measurement of one value or several in each.

    Raises
    ------
    InputError
        With the line.
    """
    found: Experiment | None = None
    for _, line in lines:
        fields = line.mapping(("params", "value"), optional=None)
        values = {
            _word(one, name): _number(one)
            for name, one in fields["params"].mapping(optional=None).items()
        }
        if found is None:
            found = Experiment(tuple(values))
        if set(values) != set(found.parameters):
            raise fields["params"].error(
                f"read {', '.join(values)[:200]}, the first line has "
                f"{', '.join(found.parameters)[:200]}; give all lines the same"
            )
        value = fields["value"]
        found.add(
            _word(line, fields["callpath"].text())
            if "callpath" in fields
            else NO_REGION,
            _word(line, fields["metric"].text()) if "metric" in fields else NO_METRIC,
            tuple(values[name] for name in found.parameters),
            _numbers(value) if isinstance(value.value, list) else [_number(value)],
        )
    assert found is not None
    if not found.parameters:
        raise lines[0][1].error("its params are empty; expected parameters")
    return found


def experiment_json(experiment: Experiment) -> str:
    """Write measurements as a document of the newer version."""
    measurements: dict[str, dict[str, list[dict[str, object]]]] = {}
    for (region, metric), points in experiment.values.items():
        measurements.setdefault(region, {})[metric] = [
            {"point": list(point), "values": values} for point, values in points.items()
        ]
    content = {"parameters": list(experiment.parameters), "measurements": measurements}
    return json.dumps(content, indent=1, allow_nan=False) + "\n"
