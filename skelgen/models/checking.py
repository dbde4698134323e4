"""Is a model good enough? The error of each configuration, and what to add.

The loop of the 2010 paper: inspect, model, run, fit, until every error is below a goal.
An error is that of a model that has not seen the configuration.

References
----------
The WRF paper of 2010, section II-A and figure 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skelgen.models import runs_ahead
from skelgen.models.advice import Advice, goes_with, neighbour, repeat
from skelgen.models.cross_validation import configurations, left_out
from skelgen.models.families import FAMILIES, FamilySettings, FittedFormula
from skelgen.models.quantities import Quantity
from skelgen.models.run_quantities import of_runs
from skelgen.models.runs import Floats, RunTable
from skelgen.trust import Doubt


@dataclass(frozen=True, slots=True)
class CheckedConfiguration:
    """A configuration and how a model that has not seen it did.

    Attributes
    ----------
    at : tuple of (str, float)
        What a user chooses; no loads.
    runs : int
    error : float
        Of the prediction, relative to the runs, their median; nan where the other runs
        determine no model [1].
    spread : float
        By how much its runs differ from each other, loads taken into account [1].
    meets : bool
        Whether the error is below the goal.
    advice : Advice or None
        What to add where it is not.
    """

    at: tuple[tuple[str, float], ...]
    runs: int
    error: float
    spread: float
    meets: bool
    advice: Advice | None = None


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """Whether a model is good enough.

    Attributes
    ----------
    family, formula : str
    goal : float
        Largest error [1].
    configurations : tuple of CheckedConfiguration
        The worst first.
    advice : tuple of Advice
        What all of the runs lack: an input.
    """

    family: str
    formula: str
    goal: float
    configurations: tuple[CheckedConfiguration, ...]
    advice: tuple[Advice, ...] = ()

    @property
    def off(self) -> tuple[CheckedConfiguration, ...]:
        """Those that do not meet the goal, the worst first."""
        return tuple(one for one in self.configurations if not one.meets)

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """One, where the goal is missed."""
        if not self.off:
            return ()
        told = f"{len(self.off)} of {len(self.configurations)} configurations have an "
        told += f"error above {self.goal:.3g}"
        return (Doubt("goal-missed", told, "add what is named, and check again"),)


def check_model(
    runs: RunTable,
    goal: float,
    family: str = "default",
    others: Mapping[str, Floats] | None = None,
    settings: FamilySettings | None = None,
    quantity: Quantity | None = None,
) -> ModelCheck:
    """Ask a family for each configuration as if nobody had run it.

    Parameters
    ----------
    runs : RunTable
    goal : float
        Largest error [1].
    family : str
    others : mapping of str to (runs,) array, optional
        What else is known of the runs and is no input; nan where a run does not say.
    settings : FamilySettings, optional
    quantity : Quantity, optional
        What is asked for; None: times. Of a speedup, neither of its two configurations
        was seen; those without a run at the reference are left out.

    Returns
    -------
    ModelCheck

    Raises
    ------
    InputError
        When the runs do not determine a model.
    """
    chosen = runs.with_loads_of(FAMILIES[family].when)
    settings = settings or FamilySettings()
    measured = of_runs(chosen, quantity or Quantity(), others)
    found = FAMILIES[family].fit(chosen, settings)
    said = left_out(FAMILIES[family], found, chosen, settings)
    errors = measured.of(said) / measured.of(chosen.values) - 1.0
    checked = [
        _checked(chosen, indices, errors, found, goal)
        for indices in configurations(chosen)
        if measured.judged[indices].any()
    ]
    checked.sort(key=lambda one: -float(np.nan_to_num(abs(one.error), nan=np.inf)))
    return ModelCheck(
        family,
        found.text,
        goal,
        tuple(checked),
        _lacking(chosen, found, others or {}),
    )


def _checked(
    runs: RunTable,
    indices: runs_ahead.Indices,
    errors: Floats,
    found: FittedFormula,
    goal: float,
) -> CheckedConfiguration:
    own = runs.only(indices)
    at = {one.name: float(own.columns[one.name][0]) for one in runs_ahead.extents(runs)}
    error = float(np.median(errors[indices]))
    with np.errstate(all="ignore"):  # loads differ within a configuration
        ratios = own.values / found.at(own.columns)
    good = bool(np.isfinite(ratios).all() and ratios.min() > 0.0)
    spread = float(ratios.max() / ratios.min() - 1.0) if good else 0.0
    meets = abs(error) <= goal
    advice = None
    if not meets and spread > goal:
        advice = repeat(at, len(indices), spread)
    elif not meets:
        advice = neighbour(runs, at)
    return CheckedConfiguration(
        tuple(at.items()), len(indices), error, spread, meets, advice
    )


def _lacking(
    runs: RunTable, found: FittedFormula, others: Mapping[str, Floats]
) -> tuple[Advice, ...]:
    """Say which input the model lacks: one that its errors go with."""
    with np.errstate(all="ignore"):
        misses = np.log(found.at(runs.columns) / runs.values)
    used = {one.name for one in found.inputs}
    left = {name: v for name, v in runs.columns.items() if name not in used}
    name, _ = goes_with(misses, {**left, **others})
    if not name:
        return ()
    told = f"errors go with {name}, which is no input of the model: "
    told += f"add it with --inputs, and give {name} for every run"
    return (Advice("input", told),)
