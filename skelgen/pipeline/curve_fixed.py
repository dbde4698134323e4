"""What a curve has fixed when somebody types it: values that ran, and others.

Where a number did not run, the runs of its other values count, and the number is an
input of the model beside that of the curve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from skelgen.errors import UsageError
from skelgen.pipeline.run_pool import Row, RunPool, number_typed, written
from skelgen.web.modelling_steps import Setting

#: Values of an input that a sentence names.
_NAMED = 8

Fixed = Mapping[str, float | str]


def typed_setting(pool: RunPool, x: str, text: str, needed: int) -> Setting:
    """Read what is fixed while an input varies, such as ``ranks=8, system=a``.

    Parameters
    ----------
    pool : RunPool
    x : str
        The input that varies.
    text : str
    needed : int
        Values of each input that the curve needs.

    Raises
    ------
    UsageError
        When a name is missing, a word did not run, or the runs are too few.
    """
    names = pool.fixed_with(x)
    numbers = pool.numbers()
    fixed = _read(text, names, numbers)
    rows = [row for row in pool.rows if isinstance(row.get(x), float)]
    rows = [row for row in rows if all(name in row for name in names)]
    for name in names:
        if name not in numbers:
            _check_word(rows, name, fixed[name])
    words = {name: one for name, one in fixed.items() if name not in numbers}
    there = _with(rows, words)
    known = {name for name in names if _with(there, {name: fixed[name]})}
    free = [name for name in names if name not in known]
    found = _setting(there, x, fixed, free)
    if len(found.values) < needed:  # they ran, but not together
        free = [name for name in names if name in numbers]
        found = _setting(there, x, fixed, free)
    for name in (x, *free):
        _check_number(there, name, needed, fixed)
    return found


def _read(text: str, names: Sequence[str], numbers: Mapping[str, int]) -> Fixed:
    """Return the value of each name."""
    given = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, value = (one.strip() for one in part.partition("="))
        if not equals or name not in names:
            raise UsageError(
                f"read {part[:40]!r}, expected a value of "
                f"{' or '.join(names)}, such as {names[0]}=..."
            )
        given[name] = value
    missing = [name for name in names if name not in given]
    if missing:
        raise UsageError(
            f"{', '.join(missing)}: not said; give one value of each, such as "
            f"{text.strip()[:80]}, {missing[0]}=..."
        )
    return {
        name: number_typed(given[name], name) if name in numbers else given[name]
        for name in names
    }


def _check_word(rows: Sequence[Row], name: str, value: float | str) -> None:
    known = sorted({written(row[name]) for row in rows})
    if written(value) not in known:
        raise UsageError(
            f"no run has {name}={written(value)[:40]}, and it is no number that a "
            f"curve could reach; choose {' or '.join(known[:_NAMED])}"
        )


def _check_number(rows: Sequence[Row], name: str, needed: int, fixed: Fixed) -> None:
    known = sorted({float(row[name]) for row in rows})
    if len(known) < needed:
        told = ", ".join(written(one) for one in known[:_NAMED])
        did = (
            "" if name not in fixed else f"{name}={written(fixed[name])} did not run; "
        )
        raise UsageError(
            f"{did}the curve needs {needed} values of {name}, and there are "
            f"{len(known)} ({told}); choose a lower graph type, or add runs"
        )


def _with(rows: Sequence[Row], fixed: Fixed) -> list[Row]:
    return [row for row in rows if all(row[name] == one for name, one in fixed.items())]


def _setting(rows: Sequence[Row], x: str, fixed: Fixed, free: Sequence[str]) -> Setting:
    same = {name: one for name, one in fixed.items() if name not in free}
    counts = Counter(float(row[x]) for row in _with(rows, same))
    return Setting(
        ", ".join(f"{name}={written(one)}" for name, one in fixed.items()),
        tuple(f"{name}={written(one)}" for name, one in same.items()),
        tuple(sorted(counts.items())),
        tuple((name, float(fixed[name])) for name in free),
    )
