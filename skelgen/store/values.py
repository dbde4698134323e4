"""How each kind of value is written as JSON and as SQL, and read back.

Nothing that is read is trusted: a value of another type, text that no file can hold or
a number that is not finite is named with its place.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skelgen.documents.text_of_bytes import escaped, unescaped, whole
from skelgen.store.rows import Inputs, RunPart
from skelgen.trust import Interval

#: Largest integer of a row: JSON of ours has at most 18 digits.
_MOST = 10**18 - 1
#: Different lists of names that are kept ready.
_MOST_REMEMBERED = 1024
NAN = float("nan")


class UnfitError(ValueError):
    """A value is not what its place needs.

    Parameters
    ----------
    what : str
        What was read and what was expected.
    path : str
        Where it stands within the row.
    """

    def __init__(self, what: str, path: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.path = path

    def below(self, path: str) -> UnfitError:
        """Return the error with the place around it."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return UnfitError(self.what, f"{path}{dot}{self.path}")


@dataclass(frozen=True, slots=True)
class Values:
    """One kind of value.

    Attributes
    ----------
    plain : callable, optional
        From a row to what JSON holds; None: it is the same. Text is not checked yet.
    read : callable
        From JSON to a row; checks it.
    bind : callable, optional
        From a row, once checked, to what SQL holds; None: it is the same.
    load : callable
        From SQL to a row.
    """

    plain: Callable[[Any], Any] | None
    read: Callable[[Any], Any]
    bind: Callable[[Any], Any] | None
    load: Callable[[Any], Any]


def _shown(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return "a mapping" if isinstance(value, dict) else "a list"
    return repr(value)[:60] if isinstance(value, str) else str(value)[:60]


def checked_text(value: Any) -> str:
    """Return text that any file can hold.

    Raises
    ------
    UnfitError
        When it is none.
    """
    if not isinstance(value, str):
        raise UnfitError(f"read {_shown(value)}, expected text")
    if "\0" in value:
        raise UnfitError(f"read a zero byte in {value[:60]!r}, expected text")
    if value.isascii():
        return value
    try:
        return whole(value)
    except UnicodeError:
        raise UnfitError(
            f"read half of a character in {value[:60]!r}, expected text"
        ) from None


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnfitError(f"read {_shown(value)}, expected an integer")
    if not 0 <= value <= _MOST:
        raise UnfitError(f"read {str(value)[:30]}, expected 0 to {_MOST}")
    return value


def _real(value: Any) -> float:
    if value.__class__ is float and value - value == 0.0:  # finite; often called
        return value
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise UnfitError(f"read {_shown(value)}, expected a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise UnfitError(f"read {str(value)[:30]}, expected a finite number")
    return number


def _known(value: Any) -> float:
    number = _real(value)
    if math.isnan(number):
        raise UnfitError("read nan, expected a number")
    return number


def _plain_real(value: float) -> float | None:
    return None if value != value else float(value)  # noqa: PLR0124 -- often called


def _read_real(value: Any) -> float:
    return NAN if value is None else _real(value)


def _plain_word(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(value)


def _word(value: Any) -> float | str:
    return checked_text(value) if isinstance(value, str) else _known(value)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise UnfitError(f"read {_shown(value)}, expected a list")
    return list(value)


def _each(one: Callable[[Any], Any], values: Any) -> list[Any]:
    found = []
    for at, value in enumerate(_list(values)):
        try:
            found.append(one(value))
        except UnfitError as error:
            raise error.below(f"[{at}]") from None
    return found


def _named(one: Callable[[Any], Any], pairs: Any) -> dict[str, Any]:
    """Return pairs of name and value as a mapping."""
    found = {name: one(value) for name, value in pairs}
    if len(found) < len(pairs):
        raise UnfitError("read a name twice, expected each once")
    return found


def _pairs(one: Callable[[Any], Any], value: Any) -> tuple[tuple[str, Any], ...]:
    """Return a mapping as pairs of name and value, sorted by name."""
    if not isinstance(value, dict):
        raise UnfitError(f"read {_shown(value)}, expected a mapping")
    found = []
    for name, inner in sorted(value.items()):
        try:
            found.append((checked_text(name), one(inner)))
        except UnfitError as error:
            raise error.below(_shown(name)) from None
    return tuple(found)


def _tuple_of(*ones: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def read(value: Any) -> tuple[Any, ...]:
        values = _list(value)
        if len(values) != len(ones):
            raise UnfitError(f"read {len(values)} values, expected {len(ones)}")
        return tuple(one(value) for one, value in zip(ones, values, strict=True))

    return read


def _members(value: Any, names: tuple[str, ...], needed: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnfitError(f"read {_shown(value)}, expected a mapping")
    for name in names[:needed]:
        if name not in value:
            raise UnfitError(f"the field {name!r} is missing")
    for name in value:
        if name not in names:
            raise UnfitError(
                f"read the field {name[:60]!r}, expected {', '.join(names)}"
            )
    return value


def _plain_part(part: RunPart) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": part.name,
        "kind": part.kind,
        "time_s": _plain_real(part.time_s),
    }
    for name, usual in (("weight", 1.0), ("share", 0.0)):
        if getattr(part, name) != usual:
            found[name] = _plain_real(getattr(part, name))
    return found


def _read_part(value: Any) -> RunPart:
    found = _members(value, ("name", "kind", "time_s", "weight", "share"), 3)
    return RunPart(
        checked_text(found["name"]),
        checked_text(found["kind"]),
        _read_real(found["time_s"]),
        _read_real(found.get("weight", 1.0)),
        _read_real(found.get("share", 0.0)),
    )


def _plain_interval(value: Interval) -> dict[str, Any]:
    return {n: _plain_real(getattr(value, n)) for n in ("p5", "p50", "p95")}


def _read_interval(value: Any) -> Interval:
    found = _members(value, ("p5", "p50", "p95"), 3)
    return Interval(*(_read_real(found[name]) for name in ("p5", "p50", "p95")))


def _if_any(of: Values) -> Values:
    """Keep a value that need not be there: as null, in SQL as NULL."""

    def through(one: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
        return lambda value: value if value is None or one is None else one(value)

    return Values(
        through(of.plain), through(of.read), through(of.bind), through(of.load)
    )


def as_text(value: str) -> str:
    """Return text as SQL can hold it."""
    return value if value.isascii() else escaped(value)


def as_real(value: float) -> float | None:
    """Return a number as SQL can hold it: NULL where it is not known."""
    return None if value != value else value  # noqa: PLR0124 -- often called


def _of_text(value: Any) -> str:
    return unescaped(value) if isinstance(value, str) else checked_text(value)


def _as_json(plain: Callable[[Any], Any], read: Callable[[Any], Any]) -> Values:
    """Keep a value that has parts as JSON text in its column."""
    encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode

    def load(text: Any) -> Any:
        try:
            return read(json.loads(text))
        except (TypeError, ValueError, RecursionError) as error:
            raise UnfitError(f"read {_shown(text)}, expected JSON") from error

    return Values(plain, read, lambda value: encode(plain(value)), load)


def _list_of(plain: Callable[[Any], Any], read: Callable[[Any], Any]) -> Values:
    return _as_json(
        lambda values: _each(plain, values), lambda values: tuple(_each(read, values))
    )


def _remembered(of: Values) -> Values:
    """Write and read equal values once: many rows have the same."""
    assert of.bind is not None
    cached = functools.lru_cache(maxsize=_MOST_REMEMBERED)
    return Values(of.plain, of.read, cached(of.bind), cached(of.load))


def _mapping_of(plain: Callable[[Any], Any], read: Callable[[Any], Any]) -> Values:
    return _as_json(
        lambda pairs: _named(plain, pairs), lambda value: _pairs(read, value)
    )


TEXT = Values(None, checked_text, as_text, _of_text)
INTEGER = Values(_integer, _integer, None, _integer)
REAL = Values(_plain_real, _read_real, as_real, _read_real)
INTERVAL = _as_json(_plain_interval, _read_interval)
_PARTS = _list_of(_plain_part, _read_part)
_KNEE = _tuple_of(_integer, _known, _known)
_POINT = _tuple_of(_integer, _known)

#: The kind of value of each type that a field of a row has.
BY_TYPE: dict[Any, Values] = {
    str: TEXT,
    int: INTEGER,
    float: REAL,
    Interval: INTERVAL,
    Interval | None: _if_any(INTERVAL),
    Inputs: _mapping_of(_plain_word, _word),
    tuple[str, ...]: _remembered(
        _as_json(list, lambda values: tuple(_each(checked_text, values)))
    ),
    tuple[float, ...]: _list_of(_plain_real, _read_real),
    tuple[tuple[str, float], ...]: _mapping_of(_plain_real, _read_real),
    tuple[RunPart, ...]: _PARTS,
    tuple[tuple[int, float, float], ...]: _list_of(_KNEE, _KNEE),
    tuple[tuple[int, float], ...]: _list_of(_POINT, _POINT),
}
