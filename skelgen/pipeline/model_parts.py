"""Parts of runs that the store has, as what models are fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from skelgen.errors import InputError, UsageError
from skelgen.models.families.contract import FamilySettings
from skelgen.models.model import Model, fit_model
from skelgen.models.parts import fit_parts
from skelgen.models.runs import Floats, RunTable
from skelgen.store import Run

#: What no part accounts for.
REST = "the rest"

#: A rest of less than this part of every run is none [1].
_NONE = 1e-6


def model_of_runs(
    runs: Sequence[Run],
    table: RunTable,
    family: str,
    *,
    parts: bool | None,
    settings: FamilySettings | None = None,
) -> Model:
    """Fit a model to whole runs, or to each of their parts.

    Parameters
    ----------
    runs : sequence of Run
    table : RunTable
        Of the same runs.
    family : str
    parts : bool or None
        None: by parts where all runs have the same ones.
    settings : FamilySettings, optional
        With a template: it is a formula of the whole run, so there are no parts.

    Raises
    ------
    UsageError
        When parts of a template are asked for.
    InputError
        When parts are asked for, and the runs have none in common.
    """
    if settings is not None and settings.template is not None:
        if parts:
            raise UsageError(
                "a template is a formula of the whole run; leave out --parts"
            )
        return fit_model(table, family, settings)
    complete = len({frozenset(_times(one)) for one in runs}) == 1
    if parts is False or (parts is None and not (complete and runs[0].parts)):
        return fit_model(table, family)
    found = _tables(runs)
    if found is None and parts is None:
        return fit_model(table, family)
    if found is None:
        raise InputError(
            "the runs have no parts in common that are shorter than they are; add "
            "phase signatures to the store, or leave out --parts"
        )
    return fit_parts(table, found, family)


def _times(run: Run) -> dict[str, float]:
    """Return the time of each part over the whole run, where it has any [s]."""
    found: dict[str, float] = {}
    for one in run.parts:
        time_s = one.time_s * one.weight
        if math.isfinite(time_s) and time_s > 0.0:
            found[one.name] = found.get(one.name, 0.0) + time_s
    return found


def _tables(runs: Sequence[Run]) -> dict[str, Floats] | None:
    """Return the times of parts that all runs have, and of the rest; None: no parts.

    A part that some run lacks counts to the rest.
    """
    times = [_times(one) for one in runs]
    names = [name for name in times[0] if all(name in one for one in times)]
    if not names:
        return None
    whole = np.array([one.time_s for one in runs])
    found = {name: np.array([one[name] for one in times]) for name in names}
    rest = whole - np.sum([*found.values()], axis=0)
    if (rest > _NONE * whole).all():
        found[REST] = rest
    elif (np.abs(rest) > 1e-2 * whole).any():
        return None
    return found
