"""Shapes of calls: how they take part in communication, and copies to be changed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import function_info
from skelgen.events.types import Calls


def shape_kinds(calls: Calls) -> NDArray[np.int64]:
    """Return the `CallKind` of each shape.

    Parameters
    ----------
    calls : Calls

    Returns
    -------
    (s,) int64 array
    """
    kinds = np.array([function_info(name).kind for name in calls.functions], np.int64)
    found: NDArray[np.int64] = kinds[calls.shapes["function"]]
    return found


def own_shapes(
    calls: Calls, some: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.void]]:
    """Copy the shapes of some calls, for these calls to have changed ones.

    Parameters
    ----------
    calls : Calls
    some : (n,) int64 array

    Returns
    -------
    number : (n,) int64 array
        The shape of each where the copies stand behind ``calls.shapes``.
    rows : SHAPE_DTYPE array
        The copies.
    """
    used, number = np.unique(calls.shape[some], return_inverse=True)
    rows: NDArray[np.void] = calls.shapes[used]
    return len(calls.shapes) + number.reshape(-1), rows
