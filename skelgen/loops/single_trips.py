"""Leave out loops that always ran once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._fold import ffi, lib
from skelgen.loops.types import Nest


def for_kernel(nest: Nest) -> Any:
    """Return a nest as the kernel takes it, while the nest is there."""
    given = ffi.new("struct skelgen_nest *")
    given.items = len(nest)
    given.rows = len(nest.trips)
    given.body_items = _pointer(nest.body_items)
    given.symbol = _pointer(nest.symbol)
    given.trips_first = _pointer(nest.trips_first)
    given.trips = _pointer(nest.trips)
    return given


def without_single_trips(nest: Nest) -> Nest:
    """Put the body in the place of each loop that always ran once.

    Parameters
    ----------
    nest : Nest
        As a reading found it. Such a loop has one row of trips.

    Returns
    -------
    Nest
        The same nest when it has no such loop.
    """
    before = np.empty(len(nest) + 1, np.int32)
    given = for_kernel(nest)
    single = lib.skelgen_single_trips(given, _pointer(before))
    if not single:
        return nest
    shorter = Nest(
        np.empty(len(nest) - single, np.int32),
        np.empty(len(nest) - single, np.int32),
        np.empty(len(nest) - single + 1, np.int64),
        np.empty((len(nest.trips) - single, 2), np.int64),
    )
    lib.skelgen_without_single_trips(given, _pointer(before), for_kernel(shorter))
    return shorter


def _pointer(array: NDArray[Any]) -> Any:
    name = {"i8": "int64_t[]", "i4": "int32_t[]"}[array.dtype.str[1:]]
    return ffi.from_buffer(name, array)
