"""From the JSON that measure, predict and workload predict print to predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skelgen.documents import Field
from skelgen.documents.numbers import MOST_RANKS
from skelgen.errors import InputError
from skelgen.store.formats.identity import identity_of
from skelgen.store.formats.known import Known
from skelgen.store.formats.limits import LimitError, check_number, check_time
from skelgen.store.rows import Inputs, Prediction
from skelgen.trust import Interval

_SETS = "sets"
_PAET = "paet_s"


def is_answer(field: Field) -> bool:
    """Say whether JSON is an answer of skelgen with times."""
    value = field.value
    return isinstance(value, dict) and (
        _PAET in value or ("failed" in value and _SETS in value)
    )


def read_answer(field: Field, known: Known, made: float) -> list[Prediction]:
    """Read predictions.

    Parameters
    ----------
    field : Field
        What was printed, whole.
    known : Known
        An application must be among it: answers do not name it.
    made : float
        When they were made, seconds since 1970 in UTC [s].

    Raises
    ------
    InputError
        With the place.
    """
    if not known.application:
        raise InputError(
            f"{field.file}: does not say of which application it is; name it with --app"
        )
    fields = field.mapping(optional=None)
    if _SETS in fields:
        return [_of_set(one, known, made) for one in fields[_SETS].items()]
    method = "workload" if "at" in fields else "phases"
    inputs = _at(fields["at"]) if "at" in fields else ()
    ranks = fields["ranks"].integer(0, MOST_RANKS) if "ranks" in fields else 0
    return [
        _finished(
            field,
            Prediction(
                method=method,
                application="",
                interval=_interval(fields, _PAET, field),
                made=made,
                inputs=inputs,
                ranks=ranks,
            ),
            fields,
            known,
        )
    ]


def _of_set(field: Field, known: Known, made: float) -> Prediction:
    fields = field.mapping(("hosts", "predicted_s"), optional=None)
    found = Prediction(
        method="whole-events",
        application="",
        interval=_interval(fields, "predicted_s", field),
        made=made,
        hosts=tuple(dict.fromkeys(fields["hosts"].texts())),
    )
    return _finished(field, found, fields, known)


def _interval(fields: Mapping[str, Field], middle: str, field: Field) -> Interval:
    wanted = ("p5_s", middle, "p95_s")
    for name in wanted:
        if name not in fields:
            raise field.error(f"the field {name!r} is missing")
    low_s, time_s, high_s = (_time(fields[name]) for name in wanted)
    if not low_s <= time_s <= high_s:
        raise fields[middle].error(
            f"read {time_s:g}, expected a time from p5_s ({low_s:g}) to p95_s "
            f"({high_s:g})"
        )
    return Interval(low_s, time_s, high_s)


def _time(field: Field) -> float:
    try:
        return check_time(field.number())
    except LimitError as error:
        raise field.error(str(error)) from error


def _at(field: Field) -> Inputs:
    found = []
    for name, one in field.mapping(optional=None).items():
        try:
            found.append((name, check_number(one.number())))
        except LimitError as error:
            raise one.error(str(error)) from error
    return tuple(sorted(found))


def _doubts(fields: Mapping[str, Field]) -> Sequence[str]:
    if "doubts" not in fields:
        return ()
    return tuple(
        one.mapping(("code",), optional=None)["code"].text()
        for one in fields["doubts"].items()
    )


def _finished(
    field: Field, found: Prediction, fields: Mapping[str, Field], known: Known
) -> Prediction:
    """Put verdict, doubts and what was typed into a prediction."""
    if found.hosts and known.hosts and set(found.hosts) != set(known.hosts):
        raise field.error(
            f"is of {','.join(found.hosts)}, --hosts says {','.join(known.hosts)}; "
            "leave --hosts out"
        )
    whole = replace(
        found,
        application=known.application,
        verdict=fields["verdict"].text() if "verdict" in fields else "trust",
        doubts=tuple(_doubts(fields)),
        inputs=tuple(sorted({**dict(known.inputs), **dict(found.inputs)}.items())),
        ranks=found.ranks or known.ranks,
        hosts=found.hosts or known.hosts,
        source=field.file.name,
    )
    return replace(whole, identity=_identity(whole))


def _identity(found: Prediction) -> str:
    """Return an identity that does not depend on the date of the file."""
    times = found.interval.p5, found.interval.p50, found.interval.p95
    return identity_of(
        *("prediction", found.method, found.application, times, found.verdict),
        *(found.doubts, found.inputs, found.ranks, found.hosts, found.source),
    )
