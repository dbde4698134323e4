"""The elements that the data of calls consist of."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from skelgen.trace import RankFile

#: Most of an element of datatypes that programs make [bytes].
_PART_BYTES = 8


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
