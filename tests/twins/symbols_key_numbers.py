"""Twin of `skelgen.symbols.key_numbers`, in plain Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def factorise_plainly(
    keys: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Do what `factorise` does, in Python: the tests compare the two."""
    numbers: dict[int, int] = {}
    first: list[int] = []
    code = np.empty(len(keys), np.int32)
    for i, key in enumerate(keys.tolist()):
        if key not in numbers:
            numbers[key] = len(first)
            first.append(i)
        code[i] = numbers[key]
    return code, np.array(first, np.int64)
