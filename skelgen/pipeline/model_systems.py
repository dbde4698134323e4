"""Fit a model for a system that has few runs: others give the form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from skelgen.errors import InputError
from skelgen.models.model import Model, fit_model
from skelgen.models.runs import Meaning, RunTable, meaning_of
from skelgen.models.runs import table_of as table
from skelgen.models.systems import CarriedModel, carry
from skelgen.pipeline.model import RunSource, numbers_of, table_of
from skelgen.store import Run
from skelgen.trust import Doubt

#: Systems that are listed where a name is not known.
_LISTED = 8


def model_on_system(
    runs: Sequence[Run], source: RunSource, family: str
) -> tuple[Model, CarriedModel | None]:
    """Fit a model for one system to the runs of all.

    Parameters
    ----------
    runs : sequence of Run
        Of one application.
    source : RunSource
        Where they are from, and the name of the system.
    family : str

    Returns
    -------
    Model
    CarriedModel or None
        What it is made of; None where all runs are on the system.

    Raises
    ------
    InputError
        When no run is on the system, or the runs do not fit together.
    """
    by = runs_of_systems(runs, source)
    here = by.pop(source.system)
    if not by:
        model = fit_model(table_of(here, source), family)
        note = f"all {len(here)} runs are on {source.system}: an ordinary fit"
        return replace(model, notes=(*model.notes, note)), None
    names = _inputs(by, source)
    others = {
        name or "an unnamed system": _table(own, names) for name, own in by.items()
    }
    found = carry(others, _table(here, names), family, source.system)
    doubts = (*found.model.doubts, *_other_inputs(by, here, source.system))
    found = replace(found, model=replace(found.model, doubts=doubts))
    return found.model, found


def runs_of_systems(runs: Sequence[Run], source: RunSource) -> dict[str, list[Run]]:
    """Return the runs of each system.

    Raises
    ------
    InputError
        When none is on the system that is asked for.
    """
    found: dict[str, list[Run]] = defaultdict(list)
    for one in runs:
        found[one.system].append(one)
    if source.system in found:
        return dict(found)
    known = sorted(name for name in found if name)
    if not known:
        raise InputError(
            f"--on {source.system[:60]}: no run says its system; name the column with "
            "--columns system=NAME, or add runs with --system"
        )
    raise InputError(
        f"--on {source.system[:60]}: no run is on it; the runs are on "
        f"{', '.join(known[:_LISTED])}"
    )


def _inputs(by: Mapping[str, Sequence[Run]], source: RunSource) -> tuple[str, ...]:
    """Return the inputs: what varies within some system, not from one to another."""
    together = [one for own in by.values() for one in own]
    try:
        names = [one.name for one in table_of(together, source).inputs]
    except InputError as error:
        raise InputError(f"runs that are not on {source.system}: {error}") from error
    if source.inputs:
        return tuple(names)
    rows = {name: [numbers_of(one) for one in own] for name, own in by.items()}
    varied = [
        name
        for name in names
        if any(len({row[name] for row in own}) > 1 for own in rows.values())
    ]
    return tuple(varied or names)


def _table(runs: Sequence[Run], names: Sequence[str]) -> RunTable:
    """Return the runs of one system with inputs that may not vary there."""
    rows = []
    for one in runs:
        numbers = numbers_of(one)
        if lacking := [name for name in names if name not in numbers]:
            raise InputError(
                f"a run on {one.system or 'no system'} has no {lacking[0]}, which is "
                "an input; give it, or name the others with --inputs"
            )
        rows.append({name: numbers[name] for name in names})
    return table(rows, [one.time_s for one in runs])


def _other_inputs(
    by: Mapping[str, Sequence[Run]], here: Sequence[Run], system: str
) -> tuple[Doubt, ...]:
    """Doubt runs that differ in what is the same in all runs on the others."""
    rows = [dict(one.inputs) for own in by.values() for one in own]
    doubts = []
    for name, value in rows[0].items():
        if meaning_of(name) is Meaning.FACT or any(
            row.get(name) != value for row in rows
        ):
            continue
        own = {_word(dict(one.inputs).get(name)) for one in here} - {_word(value)}
        if own:
            told = (
                f"the runs on {system} have {name}={', '.join(sorted(own)[:3])}, those "
            )
            told += f"of the others {name}={_word(value)}: the factor holds that, too"
            doubts.append(Doubt("other-inputs", told, "take runs with the same inputs"))
    return tuple(doubts)


def _word(value: float | str | None) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
