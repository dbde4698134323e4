"""Leaves of a nest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.loops import Nest


def leaf_symbols(nest: Nest) -> NDArray[np.int64]:
    """Return the symbol of each leaf, in prefix order."""
    symbols: NDArray[np.int64] = nest.symbol[nest.body_items == 0].astype(np.int64)
    return symbols
