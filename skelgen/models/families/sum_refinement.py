"""Sums that were found near others, each fitted near itself.

The search is linear near what several sums say together. A sum that differs from it is
fitted a little wrong there, so each is fitted again near its own values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skelgen.models.families.searching import Sums, meant
from skelgen.models.runs import Floats
from skelgen.models.thresholds import LARGEST_LINEAR_MISS

#: So often each is fitted near itself.
TIMES = 2


def refined(
    sums: Sums, columns: Floats, values: Floats, weights: Floats, steps: int
) -> Sums:
    """Fit each sum near itself.

    Parameters
    ----------
    sums : Sums
    columns : (terms + steps, runs) float64 array
        As they are; the last ones are steps.
    values, weights : (runs,) float64 array
    steps : int

    Returns
    -------
    Sums
        With errors at runs left out. Sums that come out with a coefficient below 0, or
        a large step, stay as they were.
    """
    found, error = _near_themselves(sums, columns, values, weights, steps)
    step = sums.sets >= len(columns) - steps
    good = (meant(found, step) | (sums.sets < 0)).all(axis=1) & np.isfinite(error)
    own = replace(
        sums,
        coefficients=np.where(good[:, None], found, sums.coefficients),
        errors=np.where(good, error, sums.errors),
    )
    return own.only(np.argsort(own.scores, kind="stable"))


def _near_themselves(
    sums: Sums, columns: Floats, values: Floats, weights: Floats, steps: int
) -> tuple[Floats, Floats]:
    """Return coefficients and errors; `plain.near_themselves_plainly` is the same."""
    from skelgen._kernels._refine import ffi, lib

    arrays = {
        "columns": np.ascontiguousarray(columns),
        "values": np.ascontiguousarray(values),
        "weights": np.ascontiguousarray(weights),
    }
    given = {name: ffi.from_buffer("double[]", a) for name, a in arrays.items()}
    given |= {"first_step": len(columns) - steps, "runs": len(values)}
    given |= {"largest_miss": LARGEST_LINEAR_MISS, "times": TIMES}
    found, errors = sums.coefficients.copy(), np.empty(len(sums.sets))
    done = lib.skelgen_refine(
        ffi.new("struct skelgen_refine *", given),
        len(errors),
        ffi.from_buffer("int32_t[]", sums.sets.astype(np.int32)),
        ffi.from_buffer("double[]", found, require_writable=True),
        ffi.from_buffer("double[]", errors, require_writable=True),
    )
    if done < 0:
        raise MemoryError
    return found, errors
