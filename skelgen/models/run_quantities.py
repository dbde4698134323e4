"""Quantities of runs that were measured, which a model of times is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.models.derived import predict_quantity, rate_of
from skelgen.models.formulas import evaluate, names
from skelgen.models.model import Model, ModelPrediction, predict_with
from skelgen.models.quantities import Quantity, QuantityKind, reference_among
from skelgen.models.runs import Floats, Meaning, RunTable
from skelgen.models.runs_ahead import Indices


@dataclass(frozen=True, slots=True)
class RunQuantity:
    """What runs have of a quantity.

    Attributes
    ----------
    quantity : Quantity
        With its whole reference.
    factors : (runs,) float64 array
        The quantity is these over the time, or times what the reference takes over it.
    references : tuple of intp arrays
        Of a speedup: for each run the runs at the reference with the same other
        inputs, none or several.
    judged : (runs,) bool array
        Runs that a model can be judged by: a speedup at the reference is 1 anyway.
    """

    quantity: Quantity
    factors: Floats
    references: tuple[Indices, ...]
    judged: NDArray[np.bool_]

    def of(self, times: Floats) -> Floats:
        """Return the quantity for a time of each run; nan where it has none."""
        if self.quantity.is_time:
            return times
        if not self.quantity.kind.compares:
            return np.asarray(self.factors / times)
        there = [
            np.median(times[rows]) if len(rows) else np.nan for rows in self.references
        ]
        return np.asarray(self.factors * np.array(there) / times)

    def ask(self, model: Model, at: Mapping[str, float], row: int) -> ModelPrediction:
        """Ask a model of times for the quantity of a run, which has these inputs."""
        if self.quantity.kind is QuantityKind.RATE:
            return rate_of(predict_with(model, at), float(self.factors[row]))
        return predict_quantity(model, self.quantity, at)


def of_runs(
    runs: RunTable, quantity: Quantity, others: Mapping[str, Floats] | None = None
) -> RunQuantity:
    """Say what runs have of a quantity.

    Parameters
    ----------
    runs : RunTable
        Of times.
    quantity : Quantity
    others : mapping of str to (runs,) array, optional
        What is known of the runs and is no input; nan where a run does not say.

    Raises
    ------
    InputError
        When no run has it.
    """
    everything = np.ones(len(runs), dtype=bool)
    if quantity.is_time:
        return RunQuantity(quantity, np.ones(len(runs)), (), everything)
    if quantity.amount is not None:
        factors = _amounts(runs, quantity, others or {})
        return RunQuantity(quantity, factors, (), everything)
    return _speedups(runs, quantity)


def _amounts(
    runs: RunTable, quantity: Quantity, others: Mapping[str, Floats]
) -> Floats:
    assert quantity.amount is not None
    known = {**others, **runs.columns}
    for name in names(quantity.amount):
        if name not in known or not np.isfinite(known[name]).all():
            raise InputError(
                f"rate: not every run has {name}; write it with what all have: "
                f"{', '.join(one for one, v in known.items() if np.isfinite(v).all())}"
            )
    found = np.broadcast_to(evaluate(quantity.amount, known), (len(runs),))
    if not (np.isfinite(found) & (found > 0.0)).all():
        raise InputError(
            "rate: the amount is no number above 0 for every run; see its formula"
        )
    return found


def _speedups(runs: RunTable, quantity: Quantity) -> RunQuantity:
    if loads := [one.name for one in runs.inputs if one.meaning.available]:
        raise InputError(
            f"{quantity.kind}: the runs had different loads ({', '.join(loads)}), so "
            f"their times make no {quantity.kind}; take quiet ones, such as --where "
            f"'{loads[0]}>=0.95', and name the others with --inputs"
        )
    columns = runs.columns
    parallel = [one for one in runs.inputs if one.meaning.parallel]
    lows = {one.name: float(columns[one.name].min()) for one in parallel}
    reference = reference_among(lows, quantity)
    there = np.all([columns[name] == value for name, value in reference], axis=0)
    rest = [columns[one.name] for one in runs.inputs if one not in parallel]
    at = np.stack([*rest, np.zeros(len(runs))], axis=1)
    references = tuple(np.flatnonzero(there & (at == row).all(axis=1)) for row in at)
    judged = ~there & np.array([len(rows) > 0 for rows in references])
    if not judged.any():
        told = ", ".join(f"{name}={value:g}" for name, value in reference)
        raise InputError(
            f"{quantity.kind}: no two runs are one at {told} and one on other ranks "
            "with the same other inputs; add such runs, or name others with --reference"
        )
    factors = np.ones(len(runs))
    if quantity.kind is QuantityKind.EFFICIENCY:
        ranks = [one.name for one in parallel if one.meaning is Meaning.RANKS]
        for name in ranks[:1] or [one.name for one in parallel]:
            factors = factors * dict(reference)[name] / columns[name]
    whole = Quantity(quantity.kind, reference=reference)
    return RunQuantity(whole, factors, references, judged)
