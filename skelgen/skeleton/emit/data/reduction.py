"""Choose datatype and operation of a reduction.

``MPI_BYTE`` cannot be reduced, and the application's type is known by its size only.
"""

from __future__ import annotations

from dataclasses import dataclass

_ARITHMETIC = {
    8: "MPI_DOUBLE",
    4: "MPI_INT",
    2: "MPI_SHORT",
    1: "MPI_SIGNED_CHAR",
}
_INTEGERS = {**_ARITHMETIC, 8: "MPI_LONG_LONG"}
_PAIRS = {8: ("MPI_2INT", 8), 12: ("MPI_DOUBLE_INT", 16)}
#: Codes of operations in the trace; others are the program's own.
_NAMES = {
    1: "MPI_MAX",
    2: "MPI_MIN",
    3: "MPI_SUM",
    4: "MPI_PROD",
    5: "MPI_LAND",
    6: "MPI_BAND",
    7: "MPI_LOR",
    8: "MPI_BOR",
    9: "MPI_LXOR",
    10: "MPI_BXOR",
    11: "MPI_MINLOC",
    12: "MPI_MAXLOC",
    13: "MPI_REPLACE",
    14: "MPI_NO_OP",
}
_LOGICAL = range(5, 11)
_LOCATED = (11, 12)


@dataclass(frozen=True, slots=True)
class Reduction:
    """How a reduction is written.

    Attributes
    ----------
    datatype, op : str
        MPI names.
    size_bytes : int
        Size of an element [bytes].
    extent_bytes : int
        Distance between elements in memory [bytes].
    """

    datatype: str
    op: str
    size_bytes: int
    extent_bytes: int


def reduction(op: int, datatype_bytes: int) -> Reduction:
    """Return the type and operation for elements of a size.

    An operation that the program defined itself becomes a sum.

    Examples
    --------
    >>> reduction(3, 8)
    Reduction(datatype='MPI_DOUBLE', op='MPI_SUM', size_bytes=8, extent_bytes=8)
    >>> reduction(12, 12).datatype
    'MPI_DOUBLE_INT'
    """
    if op in _LOCATED and datatype_bytes in _PAIRS:
        datatype, extent = _PAIRS[datatype_bytes]
        return Reduction(datatype, _NAMES[op], datatype_bytes, extent)
    types = _INTEGERS if op in _LOGICAL else _ARITHMETIC
    size = next(size for size in (8, 4, 2, 1) if datatype_bytes % size == 0)
    name = "MPI_SUM" if op in _LOCATED else _NAMES.get(op, "MPI_SUM")
    return Reduction(types[size], name, size, size)
