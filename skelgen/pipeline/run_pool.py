"""What the runs of an application allow to model: inputs, values, and how many runs.

Only what ran is offered: each choice says how many runs are behind it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skelgen.errors import InputError, UsageError
from skelgen.pipeline.model import COUNT_INPUTS, said_by
from skelgen.pipeline.store import store_list
from skelgen.store import Run, condition, open_store
from skelgen.units import number_of
from skelgen.web.modelling_steps import ExecutableRuns, Setting

#: Runs of an application that are looked at while a page is made.
MOST_RUNS = 20_000
#: An input that fewer of the runs have is thought to be none [1].
_MOST = 0.5

#: Of three numbers of processes: which one is left free where another one varies.
_GOES_ALONG = {"ranks": "nodes", "nodes": "ranks", "ranks_per_node": "ranks"}

Row = Mapping[str, float | str]


@dataclass(frozen=True, slots=True)
class RunPool:
    """Runs of one application that ended well.

    Attributes
    ----------
    application, executable : str
        The second is empty for all programs.
    rows : tuple of mapping of str to float or str
        Inputs and numbers of processes of each run, and its system.
    executables : tuple of ExecutableRuns
        Of all runs of the application, most runs first.
    """

    application: str
    executable: str
    rows: tuple[Row, ...]
    executables: tuple[ExecutableRuns, ...]

    @property
    def where(self) -> tuple[str, ...]:
        """Conditions that say which runs of the application these are."""
        return (f"executable={self.executable}",) if self.executable else ()

    def numbers(self) -> dict[str, int]:
        """Return inputs that are numbers and vary, with how many values each has."""
        found = {}
        for name in self._names():
            known = [row[name] for row in self.rows if name in row]
            if not any(isinstance(one, str) or one <= 0.0 for one in known):
                found[name] = len(set(known))
        return {name: count for name, count in found.items() if count > 1}

    def words(self) -> tuple[str, ...]:
        """Return inputs that vary and are no numbers."""
        return tuple(
            name
            for name in self._names()
            if any(isinstance(row.get(name), str) for row in self.rows)
            and len({row.get(name) for row in self.rows}) > 1
        )

    def goes_along(self, name: str) -> tuple[str, ...]:
        """Return inputs that vary, and of which an input says the value."""
        numbers = [one for one in self.numbers() if one != name]
        return tuple(one for one in numbers if self._says(name, one))

    def settings(self, name: str) -> tuple[Setting, ...]:
        """Return what may be fixed while an input varies, most of its values first.

        Runs that do not say one of the inputs which most others say are left out.
        """
        return self._settings(
            self.fixed_with(name), [row.get(name) for row in self.rows]
        )

    def fixed_with(self, name: str) -> list[str]:
        """Return the inputs that have one value each while an input varies."""
        along = (name, *self.goes_along(name))
        others = [one for one in self._names() if one not in along]
        others = [one for one in others if self._varies(one, name)]
        return self._without_said(name, others)

    def word_settings(self) -> tuple[Setting, ...]:
        """Return what may be fixed of inputs that are no numbers, most runs first."""
        return self._settings(self.words(), [1.0] * len(self.rows))

    def range_of(self, name: str, setting: Setting | None) -> tuple[float, float]:
        """Return the smallest and the largest value of an input in a setting."""
        texts = setting.where if setting else ()
        known = [
            float(row[name])
            for row in self.rows
            if isinstance(row.get(name), float)
            and all(
                one in {f"{a}={written(b)}" for a, b in row.items()} for one in texts
            )
        ]
        return (min(known), max(known)) if known else (math.nan, math.nan)

    def _settings(
        self, others: Sequence[str], values: Sequence[float | str | None]
    ) -> tuple[Setting, ...]:
        """Count the values of runs that have the same others."""
        found: dict[tuple[float | str, ...], Counter[float]] = defaultdict(Counter)
        for row, value in zip(self.rows, values, strict=True):
            if isinstance(value, float) and all(one in row for one in others):
                found[tuple(row[one] for one in others)][value] += 1
        settings = [
            Setting(
                ", ".join(
                    f"{a}={written(b)}" for a, b in zip(others, key, strict=True)
                ),
                tuple(f"{a}={written(b)}" for a, b in zip(others, key, strict=True)),
                tuple(sorted(counts.items())),
            )
            for key, counts in found.items()
        ]
        return tuple(
            sorted(settings, key=lambda one: (-len(one.values), -one.runs, one.text))
        )

    def _names(self) -> list[str]:
        """Return inputs that most of the runs have, and that a condition can name."""
        counts = Counter(name for row in self.rows for name in row)
        return [
            name
            for name, count in counts.items()
            if count >= _MOST * len(self.rows) and _can_be_asked(name, self.rows)
        ]

    def _without_said(self, name: str, others: list[str]) -> list[str]:
        """Leave out numbers of processes that others say: ranks = nodes x ranks each.

        Where such a number varies, one of the other two goes along with it.
        """
        if {name, *others} >= {*COUNT_INPUTS} and name in COUNT_INPUTS:
            others = [one for one in others if one != _GOES_ALONG[name]]
        for one in COUNT_INPUTS:
            rest = [other for other in COUNT_INPUTS if other != one and other in others]
            full = [
                row for row in self.rows if all(each in row for each in (one, *rest))
            ]
            if one in others and rest and said_by(full, one, rest):
                others = [other for other in others if other != one]
        return others

    def _varies(self, name: str, of: str) -> bool:
        return len({row.get(name) for row in self.rows if of in row}) > 1

    def _says(self, name: str, other: str) -> bool:
        seen: dict[float | str, float | str | None] = {}
        rows = [row for row in self.rows if name in row]
        return all(
            seen.setdefault(row[name], row.get(other)) == row.get(other) for row in rows
        )


def written(value: float | str) -> str:
    """Return a value of an input so that it is read back as it is.

    Examples
    --------
    >>> written(2000.0), written(0.1 + 0.2), written("cg")
    ('2000', '0.30000000000000004', 'cg')
    """
    if isinstance(value, str):
        return value
    short = f"{value:.12g}"
    return short if float(short) == value else repr(value)


def run_pool(place: str | None, application: str, executable: str = "") -> RunPool:
    """Return the runs of an application that ended well.

    Parameters
    ----------
    place : str, optional
        Of the store.
    application : str
    executable : str
        Only of this program; empty: of all.

    Raises
    ------
    InputError
        When there are none, or too many to look at.
    UsageError
        When there is no such program.
    """
    where = ["status=ok"]
    with open_store(place, make=False) as store:
        count = store.count(application, [condition(one) for one in where])
    if not count:
        raise InputError(
            f"{application[:60]}: no run that ended well; time one with skelgen time, "
            "or choose another application"
        )
    if count > MOST_RUNS:
        raise InputError(
            f"{application[:60]}: {count} runs, and steps are made for up to "
            f"{MOST_RUNS}; use skelgen model fit with --where"
        )
    runs = store_list(place, application, where).runs
    known = _executables(runs)
    chosen = [one for one in runs if not executable or one.executable == executable]
    if not chosen:
        raise UsageError(
            f"{application[:60]}: no run of the program {executable[:12]}; choose one "
            f"of its {number_of(len(known), 'program')}"
        )
    return RunPool(application, executable, tuple(map(_row, chosen)), known)


def _executables(runs: Sequence[Run]) -> tuple[ExecutableRuns, ...]:
    by: dict[str, list[Run]] = defaultdict(list)
    for one in runs:
        by[one.executable].append(one)
    found = [
        ExecutableRuns(
            digest, len(own), tuple(sorted({one.system for one in own} - {""}))
        )
        for digest, own in by.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.runs, one.digest)))


def _row(run: Run) -> Row:
    """Return what may be an input of a run, or differs between its runs."""
    row: dict[str, float | str] = dict(run.inputs)
    row |= {
        name: float(getattr(run, name)) for name in COUNT_INPUTS if getattr(run, name)
    }
    return row | ({"system": run.system} if run.system else {})


def _can_be_asked(name: str, rows: Sequence[Row]) -> bool:
    """Say whether a condition can name an input, and means it."""
    if name not in (*COUNT_INPUTS, "system") and _is_field(name):
        return False
    for value in {row[name] for row in rows if name in row}:
        try:
            found = condition(f"{name}={written(value)}")
        except UsageError:
            return False
        if (found.name, found.operator, found.value) != (name, "=", value):
            return False
    return True


def _is_field(name: str) -> bool:
    """Say whether a run has a field of that name: a condition would mean that."""
    return name in {*Run.__dataclass_fields__, "host", "time", "id"}


def number_typed(text: str, what: str) -> float:
    """Read a number that was typed; nan where nothing was.

    Raises
    ------
    UsageError
    """
    if not text.strip():
        return math.nan
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0.0 < found < 1e30:
        raise UsageError(
            f"{what}: read {text.strip()[:40]!r}, expected a number above 0"
        )
    return found
