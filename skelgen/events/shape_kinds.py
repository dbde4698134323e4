"""How the calls of each shape take part in communication."""

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
