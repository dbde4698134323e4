"""Call the C kernel that folds.

A stack holds what has been read so far as items: runs of one symbol, and loops. An
item's id does not depend on how often it repeats, so loops whose inner trip counts
vary are equal. Items that repeat never stay apart:

- an item meets its like below: their trips add up;
- an item meets a loop whose body ends with its like: the body's last part goes on;
- the topmost items are a known body: they become a loop of one trip;
- the topmost items repeat those below them: a new body, a loop of two trips;
- the topmost items equal the end of the body of the loop before them: a new body, a
  loop of one trip, for that end seems to be an inner loop that goes on.

What a reduction leaves is reduced again. Iterations ahead that equal the last one of a
new loop symbol by symbol are counted at once: most strings are read this way. An
iteration that joined a loop can have counts that vary inside it. Its repetitions ahead
are counted at once, too, if nothing that decided how it was reduced has changed. So
are those of a new loop whose body has many items.

Long stretches that repeat are found by *landmarks*: heights of the stack whose topmost
items have the least hash of some. Equal stretches have them in equal places, so only
landmarks are looked up. A long stretch of the string that is read again is reduced as
before where nothing that decides has changed; then its items are copied.

Beside the items stand the trip counts of every run and loop inside them, the loop's
own behind those of its body, as run-length coded rows in the order of executions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._fold import ffi, lib
from skelgen.errors import InputError
from skelgen.loops.readings import settle
from skelgen.loops.single_trips import for_kernel
from skelgen.loops.types import Nest

#: The kernel counts in 32 bits, at most two counters for each symbol.
_LONGEST = 1 << 30


def fold(symbols: NDArray[np.int32]) -> Nest:
    """Fold a string of symbols into nested loops, without loss.

    Loops are equal when their bodies are, however often they ran; so an outer loop is
    found although its inner trip counts vary. Where a rare symbol disturbs a loop, two
    loops with the same body remain around it. A loop that always ran once is none.

    Parameters
    ----------
    symbols : (n,) int32 array
        Not negative.

    Returns
    -------
    Nest
        Expands to the same string.

    Raises
    ------
    InputError
        When the string is too long or holds a negative symbol.

    References
    ----------
    Sodhi and Subhlok 2005, section III-B, identification of cycles; there the longest
    repeated strings are sought first, in quadratic time.

    Examples
    --------
    >>> nest = fold(np.array([0, 1, 1, 2, 1, 1, 2, 1, 1, 2, 3, 0, 0], np.int32))
    >>> nest.body_items.tolist()
    [0, 3, 1, 0, 0, 0, 1, 0]
    >>> nest.trips.tolist()
    [[3, 1], [2, 3], [2, 1]]
    """
    string = np.ascontiguousarray(symbols, np.int32)
    if len(string) > _LONGEST:
        raise InputError(
            f"a rank has {len(string)} events; expected at most {_LONGEST}; "
            "record a shorter run"
        )
    if len(string) and string.min() < 0:
        raise InputError(
            f"symbol {string.min()} was to be folded; expected none below 0; "
            "build the signature again"
        )
    folding = _folding(string)
    return settle(
        lambda known, depth: _read(folding, known, depth), _known, len(string)
    )


def _folding(string: NDArray[np.int32]) -> Any:
    """Return what the kernel needs to read a string, while the string is there."""
    symbols = ffi.from_buffer("int32_t[]", string)
    folding = lib.skelgen_folding_new(symbols, len(string))
    if not folding:
        raise MemoryError(f"no memory for folding {len(string)} symbols")
    return ffi.gc(folding, lib.skelgen_folding_free)


def _known(known: Nest, depth: int) -> int:
    return int(lib.skelgen_known(for_kernel(known), depth))


def _read(folding: Any, known: Nest, depth: int) -> Nest:
    given, found = for_kernel(known), ffi.new("struct skelgen_nest *")
    if lib.skelgen_fold(folding, given, depth, found):
        raise MemoryError("no memory for folding a string")
    return Nest(
        _owned(found.body_items, found.items, np.int32),
        _owned(found.symbol, found.items, np.int32),
        _owned(found.trips_first, found.items + 1, np.int64),
        _owned(found.trips, 2 * found.rows, np.int64).reshape(-1, 2),
    )


def _owned(pointer: Any, count: int, dtype: type) -> NDArray[Any]:
    """Return an array of the kernel, freed with the last view of it."""
    kept = ffi.gc(pointer, lib.skelgen_array_free)
    return np.frombuffer(ffi.buffer(kept, count * np.dtype(dtype).itemsize), dtype)
