"""The kernels of exports: halves of messages, and records."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.trace.format import struct_dtype


@cache
def halves() -> Any:
    """Return the kernel that follows requests and matches messages."""
    import skelgen._kernels._halves as module

    return module


@cache
def records() -> Any:
    """Return the kernel that writes records."""
    import skelgen._kernels._records as module

    return module


@cache
def dtype(name: str) -> np.dtype[np.void]:
    """Return the dtype of a struct of `halves`, without ``skelgen_``."""
    return struct_dtype(halves().ffi, f"skelgen_{name}")


def address(module: Any, array: NDArray[Any], kind: str) -> Any:
    """Return where an array lies as a C pointer of a kernel.

    Parameters
    ----------
    module : module
        The kernel.
    array : array
        In one piece; the kernel does not keep it alive.
    kind : str
        C type of an element.
    """
    return module.ffi.from_buffer(f"{kind} *", array)
