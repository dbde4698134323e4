"""The procedure of the thesis: common complexities and polynomials, tried in turn.

A line goes through the two ends. The next run validates it; when it is missed, the run
is used as well and the next function that agrees with all used runs is taken, until
runs that were not used are met.

References
----------
Martinez Canillas 2011, table 2.1 and section 5.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from skelgen.models.families.candidates import CandidateSum
from skelgen.models.families.formula_parts import columns_of, power, product
from skelgen.models.families.workload_terms import log_of
from skelgen.models.formulas import (
    Expression,
    FunctionCall,
    Name,
    Number,
    Power,
    Sum,
    to_text,
)
from skelgen.models.runs import Floats, RunTable
from skelgen.trust import Doubt

#: Above this n! is no longer a number; exponents beyond the other are none.
_LARGEST_FACTORIAL, _LARGEST_EXPONENT = 170.0, 690.0


def procedure(
    runs: RunTable, *, threshold: float = 0.05
) -> tuple[tuple[CandidateSum, ...], tuple[Doubt, ...]]:
    """Choose a function of one input as the thesis does.

    Parameters
    ----------
    runs : RunTable
        At least two, each case once, which differ in one input.
    threshold : float
        Largest relative error at a run that was not used [1].

    Returns
    -------
    tuple of CandidateSum
        The one function; its error is the largest at unused runs.
    tuple of Doubt
        That no unused run was left to validate it. The error is then what the function
        before it missed by, or 1 after two runs.
    """
    (one,) = runs.varied
    used, unused = _ends_first(runs.columns[one.name])
    found = _function(runs.only(np.array(used)), one.name, threshold)
    missed, waiting = 1.0, list(unused)
    while waiting:
        errors = _errors(found, runs.only(np.array(waiting)))
        if errors.max() <= threshold:
            return (_with_error(found, float(errors.max())),), ()
        first = int(np.argmax(errors > threshold))
        missed = float(errors[first])
        used.append(waiting.pop(first))
        found = _function(runs.only(np.array(used)), one.name, threshold)
    told = f"all {len(used)} cases were needed for {to_text(found.formula, digits=4)}; "
    told += "none is left to validate it"
    doubt = Doubt("not-validated", told, "record another", one.name)
    return (_with_error(found, missed),), (doubt,)


def _with_error(found: CandidateSum, error: float) -> CandidateSum:
    return CandidateSum(found.terms, found.coefficients, error)


def _ends_first(n: Floats) -> tuple[list[int], list[int]]:
    """Return both ends, and the other runs in the order of the bisection.

    That is the run farthest from those before it, each time.
    """
    ends = [int(np.argmin(n)), int(np.argmax(n))]
    order = list(ends)
    while len(order) < len(n):
        distance = np.abs(n[:, None] - n[order]).min(axis=1)
        order.append(int(np.argmax(distance)))
    return ends, order[2:]


def _errors(found: CandidateSum, runs: RunTable) -> Floats:
    with np.errstate(all="ignore"):
        errors = np.abs(found.at(runs.columns) / runs.values - 1.0)
    return np.asarray(np.nan_to_num(errors, nan=np.inf, posinf=np.inf))


def _function(runs: RunTable, name: str, threshold: float) -> CandidateSum:
    """Return the first function that agrees with the runs it is fitted to.

    The polynomial through all runs always does.
    """
    if len(runs) == 2:
        return _least_squares(runs, _powers(name, 1))
    for found in _families(runs, name):
        if _errors(found, runs).max() <= threshold:
            return found
    return _least_squares(runs, _powers(name, len(runs) - 1))


def _families(runs: RunTable, name: str) -> Iterator[CandidateSum]:
    """Fit the functions that need no more than these runs: table 2.1, polynomials."""
    n, one, column = Name(name), Number(1.0), runs.columns[name]
    log = log_of(name, column)
    yield _least_squares(runs, (one,))
    yield _least_squares(runs, (log, one))
    yield _least_squares(runs, (n, one))
    yield _least_squares(runs, (product(n, log), one))
    yield _least_squares(runs, (power(n, 2.0), one))
    yield _least_squares(runs, (power(n, 3.0), one))
    slope, start = np.polyfit(column, np.log(runs.values), 1)
    if max(abs(start), abs(slope)) < _LARGEST_EXPONENT:  # both are numbers
        base = Number(math.exp(slope))
        yield CandidateSum((Power(base, n),), (math.exp(start),), 0.0)
    if column.max() <= _LARGEST_FACTORIAL:
        yield _least_squares(runs, (FunctionCall("gamma", (Sum((n, one)),)), one))
    for order in range(2, len(runs)):
        yield _least_squares(runs, _powers(name, order))


def _powers(name: str, order: int) -> tuple[Expression, ...]:
    return tuple(power(Name(name), float(k)) for k in range(order, -1, -1))


def _least_squares(runs: RunTable, terms: Sequence[Expression]) -> CandidateSum:
    """Fit coefficients of either sign, by relative error."""
    with np.errstate(all="ignore"):
        scaled = columns_of(terms, runs) / runs.values[:, None]
        norms = np.linalg.norm(scaled, axis=0)
        usable = np.isfinite(norms) & (norms > 0.0)
        scaled = np.where(usable, scaled / np.where(usable, norms, 1.0), 0.0)
    found = np.linalg.lstsq(scaled, np.ones(len(runs)), rcond=None)[0]
    numbers = np.where(usable, found / np.where(usable, norms, 1.0), 0.0)
    return CandidateSum(tuple(terms), tuple(map(float, numbers)), 0.0)
