"""From the JSON that measure, predict and workload predict print to predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skelgen.documents import Field
from skelgen.documents.numbers import MOST_RANKS
from skelgen.errors import InputError
from skelgen.store.formats.identity import identity_of
from skelgen.store.formats.limits import (
    LimitError,
    check_name,
    check_number,
    check_time,
    check_word,
)
from skelgen.store.formats.typed_values import TypedValues
from skelgen.store.rows import Inputs, StoredPrediction
from skelgen.trust import Interval

_SETS = "sets"
_PAET = "paet_s"


def is_answer(field: Field) -> bool:
    """Say whether JSON is an answer of skelgen with times."""
    value = field.value
    return isinstance(value, dict) and (
        _PAET in value or ("failed" in value and _SETS in value)
    )


def read_answer(
    field: Field, known: TypedValues, made: float
) -> list[StoredPrediction]:
    """Read predictions.

    Parameters
    ----------
    field : Field
        What was printed, whole.
    known : TypedValues
        What was typed counts more than what the answer says. Answers of older versions
        name neither application nor method: then an application must be among it.
    made : float
        When they were made, seconds since 1970 in UTC [s].

    Raises
    ------
    InputError
        With the place.
    """
    fields = field.mapping(optional=None)
    about = _about(field, fields, known)
    if _SETS in fields:
        return [_of_set(one, about, known, made) for one in fields[_SETS].items()]
    interval = _interval(fields, _PAET, field)
    return [_finished(field, _prediction(about, interval, made), fields, known)]


@dataclass(frozen=True, slots=True)
class _About:
    """What all predictions of an answer are about."""

    method: str
    application: str
    inputs: Inputs
    ranks: int


def _about(field: Field, fields: Mapping[str, Field], known: TypedValues) -> _About:
    """Read what an answer is about, as far as nobody typed it."""
    application = known.application or _word(fields, "application")
    if not application:
        raise InputError(
            f"{field.file}: does not say of which application it is; name it with --app"
        )
    # Without a method: by an older version, which had only these.
    usual = "workload" if "at" in fields else "phases"
    usual = "whole-events" if _SETS in fields else usual
    said = _inputs(fields["inputs"]) if _is_there(fields, "inputs") else ()
    at = _inputs(fields["at"]) if "at" in fields else ()
    inputs = {**dict(said), **dict(known.inputs), **dict(at)}
    ranks = fields["ranks"].integer(0, MOST_RANKS) if "ranks" in fields else 0
    return _About(
        method=_word(fields, "method") or usual,
        application=application,
        inputs=tuple(sorted(inputs.items())),
        ranks=ranks or known.ranks,
    )


def _word(fields: Mapping[str, Field], name: str) -> str:
    """Return a word of an answer; nothing where it does not say it."""
    if not _is_there(fields, name):
        return ""
    try:
        return check_word(fields[name].text())
    except LimitError as error:
        raise fields[name].error(str(error)) from error


def _is_there(fields: Mapping[str, Field], name: str) -> bool:
    return name in fields and not fields[name].is_null()


def _prediction(about: _About, interval: Interval, made: float) -> StoredPrediction:
    return StoredPrediction(
        method=about.method,
        application=about.application,
        interval=interval,
        made=made,
        inputs=about.inputs,
        ranks=about.ranks,
    )


def _of_set(
    field: Field, about: _About, known: TypedValues, made: float
) -> StoredPrediction:
    fields = field.mapping(("hosts", "predicted_s"), optional=None)
    found = _prediction(about, _interval(fields, "predicted_s", field), made)
    hosts = tuple(dict.fromkeys(fields["hosts"].texts()))
    return _finished(field, replace(found, hosts=hosts), fields, known)


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


def _inputs(field: Field) -> Inputs:
    """Read inputs by their names: numbers, or words."""
    found: list[tuple[str, float | str]] = []
    for name, one in field.mapping(optional=None).items():
        try:
            if isinstance(one.value, str):
                found.append((check_name(name), check_word(one.text())))
            else:
                found.append((check_name(name), check_number(one.number())))
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
    field: Field,
    found: StoredPrediction,
    fields: Mapping[str, Field],
    known: TypedValues,
) -> StoredPrediction:
    """Put verdict, doubts and what was typed into a prediction."""
    if found.hosts and known.hosts and set(found.hosts) != set(known.hosts):
        raise field.error(
            f"is of {','.join(found.hosts)}, --hosts says {','.join(known.hosts)}; "
            "leave --hosts out"
        )
    whole = replace(
        found,
        verdict=fields["verdict"].text() if "verdict" in fields else "trust",
        doubts=tuple(_doubts(fields)),
        hosts=found.hosts or known.hosts,
        source=field.file.name,
    )
    return replace(whole, identity=_identity(whole))


def _identity(found: StoredPrediction) -> str:
    """Return an identity that does not depend on the date of the file."""
    times = found.interval.p5, found.interval.p50, found.interval.p95
    return identity_of(
        *("prediction", found.method, found.application, times, found.verdict),
        *(found.doubts, found.inputs, found.ranks, found.hosts, found.source),
    )
