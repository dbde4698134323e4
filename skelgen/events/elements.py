"""The elements that the data of calls consist of."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from skelgen.trace import RankFile
from skelgen.trace.format import trace_format

#: Most of an element of datatypes that programs make [bytes].
_PART_BYTES = 8
#: Larger pieces are as good as one: 2 to the power of this [bytes].
_MOST_PIECE = 30


def element_bytes(file: RankFile, raw: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the size of an element of each shape's datatype [bytes], 0 for none.

    A datatype that the program made is as many elements as it likes: rows of matrices
    have one for each length.
    """
    types = file.definitions.types
    made = [number for number, one in types.items() if not one.predefined]
    first = raw["type_a"] != 0
    size = np.where(first, raw["bytes_a"], raw["bytes_b"]).astype(np.int64)
    number = np.where(first, raw["type_a"], raw["type_b"])
    parts = np.isin(number, made) & (size > 0)
    return np.asarray(np.where(parts, np.gcd(size, _PART_BYTES), size))


def piece_bytes(file: RankFile, raw: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the size of the pieces of memory that messages of each shape consist of.

    MPI gathers and scatters them one by one. Of a call with two types it is that of the
    smaller pieces.

    Returns
    -------
    (shapes,) int64 array
        Mean of a message, to a power of two from 2 on [bytes]; 0 where nothing is
        known, pieces are single bytes, or a message lies in one piece.
    """
    constants = trace_format()
    pieces = {
        number: 1 << min(one.piece_bytes.bit_length() - 1, _MOST_PIECE - 1)
        for number, one in file.definitions.types.items()
        if one.piece_bytes > 1 and not one.contiguous
    }
    none = 1 << _MOST_PIECE
    sides = [
        [pieces.get(number, none) for number in raw[side].tolist()]
        for side in ("type_a", "type_b")
    ]
    found: NDArray[np.int64] = np.array(sides, np.int64).min(axis=0)
    found[found == none] = 0
    told = (raw["flags"] & constants["SHAPE_HOLES"]) != 0
    shift = raw["flags"][told] >> constants["PIECE_SHIFT"] & constants["PIECE_MASK"]
    told_bytes = 1 << np.minimum(shift, _MOST_PIECE - 1).astype(np.int64)
    found[told] = np.where(shift, told_bytes, 0)
    return found


def common_bytes(file: RankFile, shape: np.void) -> int:
    """Return a size that all parts are multiples of, in calls with a type for each.

    Parameters
    ----------
    file : RankFile
    shape : void
        Whose vectors are those of its first call; they count bytes.

    Returns
    -------
    int
        Up to 8 [bytes]: the pieces of memory between the holes.
    """
    common, ragged = _PART_BYTES, file.definitions.vectors
    for number in (int(shape["vector_a"]), int(shape["vector_b"])):
        if number:
            first, end = ragged.first[number - 1 : number + 1].tolist()
            common = math.gcd(common, *ragged.values[first:end].tolist())
    return common
