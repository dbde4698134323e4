"""Fit models to runs of the store or of a file, ask them, compare families."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skelgen.errors import InputError, UsageError
from skelgen.models.families import FAMILIES
from skelgen.models.model import Model, fit_model
from skelgen.models.odd_runs import odd_inputs
from skelgen.models.runs import Floats, ModelInput, RunTable, meaning_of, when_of
from skelgen.pipeline.model_cells import (
    check_numbers,
    partly_known,
    place_of,
)
from skelgen.pipeline.run_loads import with_loads
from skelgen.pipeline.store import store_list
from skelgen.pipeline.store_sources import content_of
from skelgen.store import Row, Run, conditions_of, open_store
from skelgen.store.formats.typed_values import TypedValues
from skelgen.units import number_of

if TYPE_CHECKING:
    from skelgen.models.families.contract import FamilySettings
    from skelgen.progress import Progress

#: Fields of a run that are inputs, in the order in which they are left out when two
#: say the same.
COUNT_INPUTS = ("nodes", "ranks_per_node", "ranks")

#: Loads of a run that are inputs, by the name that formulas use.
LOADS = {
    "cpu": "cpu_avg_min",
    "bandwidth": "bandwidth_avg_min",
    "cpu_start": "cpu_start",
    "bandwidth_start": "bandwidth_start",
}


@dataclass(frozen=True, slots=True)
class RunSource:
    """Where runs to learn from are.

    Attributes
    ----------
    file : str
        A CSV file or what else `skelgen store add` reads; empty: the store.
    store : str or None
        Of which runs are taken when there is no file.
    application : str
    where : tuple of str
        Conditions such as ``n>=1000``.
    columns : mapping of str to str
        Which column of a file is what.
    inputs : tuple of str
        Only these; empty: all that are numbers in every run.
    named : tuple of str
        Names of a formula: inputs where all runs have them, the same value or not.
    facts : tuple of str
        Names that a user gave a value: no inputs.
    system : str
        The model is for it, and runs on others give the form; empty: for all alike.
    family : str
        That a user named; empty: the usual one.
    """

    file: str = ""
    store: str | None = None
    application: str = ""
    where: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    system: str = ""
    family: str = ""


def runs_to_learn_from(source: RunSource, progress: Progress) -> RunTable:
    """Return the runs of a source as a table of inputs and times.

    Parameters
    ----------
    source : RunSource
    progress : Progress

    Raises
    ------
    InputError
        When there are none that ended well, or they do not fit together.
    """
    return table_of(good_runs(source, progress), source)


def good_runs(source: RunSource, progress: Progress) -> list[Run]:
    """Return the runs of a source that ended well, of one application.

    Raises
    ------
    InputError
        When there are none, or they are of several applications.
    """
    return ended_well(_runs(source, progress), source)


def ended_well(runs: Sequence[Run], source: RunSource) -> list[Run]:
    """Return the runs that ended well, which are of one application.

    Raises
    ------
    InputError
        When there are none, or they are of several applications.
    """
    good = [one for one in runs if one.status == "ok"]
    if not good:
        raise InputError(
            f"{_shown(source)}: {number_of(len(runs), 'run')}, none that ended well; "
            "a model needs at least two"
        )
    applications = sorted({one.application for one in good})
    if len(applications) > 1:
        raise InputError(
            f"{_shown(source)}: runs of {', '.join(applications[:5])}; a model is of "
            "one application, choose it with --app"
        )
    return good


def table_of(good: Sequence[Run], source: RunSource) -> RunTable:
    """Return runs as a table of inputs and times, with doubts of those that are odd."""
    rows = [_row(one) for one in good]
    names = [place_of(one, number) for number, one in enumerate(good, 1)]
    inputs = _inputs(rows, source, names)
    numbers = [{one.name: float(row[one.name]) for one in inputs} for row in rows]
    table = RunTable.gather(inputs, numbers, [one.time_s for one in good], names=names)
    doubts, notes = ((), ()) if source.inputs else partly_known(rows, names)
    return replace(table, doubts=(*odd_inputs(table, names), *doubts), notes=notes)


def _shown(source: RunSource) -> str:
    return source.file or "the store"


def _runs(source: RunSource, progress: Progress) -> Sequence[Run]:
    if not source.file:
        found = store_list(source.store, source.application or None, source.where).runs
        return with_loads(found, source.store)
    rows = rows_in_file(source, progress)
    runs = [row for row in rows if isinstance(row, Run)]
    return chosen_runs(runs, source.where) if source.where else runs


def rows_in_file(source: RunSource, progress: Progress) -> Sequence[Row]:
    """Return all that the file of a source holds.

    Raises
    ------
    InputError
        For the first mistake.
    """
    path = Path(source.file)
    known = TypedValues(application=source.application, otherwise=path.stem)
    content = content_of(source.file, known, source.columns, progress)
    if content.refused:
        raise InputError(content.refused[0].reason)
    return content.rows


def chosen_runs(runs: Sequence[Run], where: Sequence[str]) -> Sequence[Run]:
    """Return the runs of which conditions hold, as a store understands them."""
    wanted = [one for text in where for one in conditions_of(text)]
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(str(Path(folder, "runs.db"))) as store,
    ):
        store.add(runs)
        return store.runs(None, wanted)


def _row(run: Run) -> dict[str, float | str]:
    """Return all that may be an input of a model."""
    row: dict[str, float | str] = dict(run.inputs)
    row |= {
        name: float(getattr(run, name)) for name in COUNT_INPUTS if getattr(run, name)
    }
    loads = dict(run.loads)
    row |= {name: loads[load] for name, load in LOADS.items() if load in loads}
    return row


def numbers_of(run: Run) -> dict[str, float]:
    """Return all numbers that may be inputs of a model."""
    return {name: v for name, v in _row(run).items() if not isinstance(v, str)}


def _inputs(
    rows: Sequence[Mapping[str, float | str]], source: RunSource, places: Sequence[str]
) -> tuple[ModelInput, ...]:
    """Return the inputs of a model: numbers that all runs have, and that vary."""
    everywhere = [name for name in rows[0] if all(name in row for row in rows)]
    chosen = [name for name in source.inputs or everywhere if _varies(rows, name)]
    for name in source.inputs:
        if name not in everywhere:
            raise InputError(
                f"{_shown(source)}: not every run has {name}; all have "
                f"{', '.join(everywhere) or 'nothing'}"
            )
    for name in chosen:
        check_numbers(_shown(source), name, [row[name] for row in rows], places)
    for name in COUNT_INPUTS:
        others = [other for other in COUNT_INPUTS if other != name and other in chosen]
        if not source.inputs and name in chosen and said_by(rows, name, others):
            chosen.remove(name)
    chosen += _named(rows, source, chosen)
    if not chosen:
        raise InputError(
            f"{_shown(source)}: no input varies in {number_of(len(rows), 'run')}; a "
            "model needs runs of at least two sizes, or on different numbers of ranks"
        )
    return tuple(
        ModelInput(name, meaning_of(name), when=when_of(name)) for name in chosen
    )


def _named(
    rows: Sequence[Mapping[str, float | str]], source: RunSource, chosen: Sequence[str]
) -> list[str]:
    """Return further inputs that a formula names: it says what they do."""
    if twice := [name for name in source.facts if name in chosen]:
        raise InputError(
            f"{_shown(source)}: {twice[0]} differs between the runs, and is given as a "
            "fact; leave the fact out, or choose runs with --where"
        )
    found = [name for name in source.named if any(name in row for row in rows)]
    found = [name for name in found if name not in (*chosen, *source.facts)]
    if partly := [name for name in found if any(name not in row for row in rows)]:
        raise InputError(
            f"{_shown(source)}: the template names {partly[0]}, which not every run "
            "has; choose those that have it with --where"
        )
    return [name for name in dict.fromkeys(found) if not isinstance(rows[0][name], str)]


def _varies(rows: Sequence[Mapping[str, float | str]], name: str) -> bool:
    return len({row.get(name) for row in rows}) > 1


def said_by(
    rows: Sequence[Mapping[str, float | str]], name: str, others: Sequence[str]
) -> bool:
    """Tell whether other fields say what a field does: ranks = nodes x ranks each."""
    if not others:
        return False
    seen: dict[tuple[float | str, ...], float | str] = {}
    return all(
        seen.setdefault(tuple(row[other] for other in others), row[name]) == row[name]
        for row in rows
    )


def _parts(text: str) -> list[str]:
    """Split at the commas behind values: names may have some, such as ``max(a,b)``."""
    found: list[str] = []
    for part in text.split(","):
        if found and "=" not in found[-1]:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def asked_values(text: str, option: str) -> dict[str, float]:
    """Read ``n=8000,ranks=64``.

    Raises
    ------
    UsageError
    """
    found: dict[str, float] = {}
    for part in _parts(text):
        name, equals, value = part.strip().rpartition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or not equals or not math.isfinite(number):
            raise UsageError(
                f"{option}: read {part.strip()[:60]!r}, expected a name and a number, "
                "such as n=8000,ranks=64"
            )
        if name in found:
            raise UsageError(f"{option}: {name} is given twice")
        found[name] = number
    return found


def model_fit(
    source: RunSource,
    family: str,
    *,
    progress: Progress,
    settings: FamilySettings | None = None,
) -> Model:
    """Fit a model to the runs of a source; see `skelgen.models.model.fit_model`."""
    return fit_model(runs_to_learn_from(source, progress), family, settings)


def check_families(names: Sequence[str]) -> None:
    """Refuse names of families that there are not.

    Raises
    ------
    UsageError
    """
    if unknown := [name for name in names if name not in FAMILIES]:
        raise UsageError(
            f"there is no family {unknown[0]!r}; there are {', '.join(FAMILIES)}"
        )


def other_numbers(runs: Sequence[Run], table: RunTable) -> dict[str, Floats]:
    """Return what is known of runs and is no input; nan where a run does not say."""
    rows = [numbers_of(one) for one in runs]
    names = {name for row in rows for name in row} - set(table.columns)
    return {
        name: np.array([row.get(name, math.nan) for row in rows])
        for name in sorted(names)
    }
