"""Memory in which the kernel decodes one file after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.trace.format import struct_dtype

_FIRST_ROWS = 256
#: Longest tables that are kept from one file to the next.
_MOST_ROWS = 1 << 14


@cache
def kernel() -> Any:
    """Return the compiled module, loaded when it is first needed."""
    import skelgen._kernels._decode as module

    return module


@cache
def dtype(name: str) -> np.dtype[np.void]:
    """Return the dtype of one of the kernel's structs, without ``skelgen_``."""
    return struct_dtype(kernel().ffi, f"skelgen_{name}")


def pointer(array: NDArray[Any], kind: str) -> Any:
    """Return the address of an array, which the caller keeps, as a C pointer."""
    return kernel().ffi.from_buffer(f"{kind}[]", array)


class DecodedTables:
    """Arrays that the kernel fills and that grow when it asks for it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.clear()

    def clear(self) -> None:
        """Begin with small tables."""
        self.definitions = np.zeros(_FIRST_ROWS, dtype("definition"))
        self.shapes = np.zeros(_FIRST_ROWS, dtype("call_shape"))
        self.variants = np.zeros(0, dtype("variant"))
        self.slots = np.zeros(0, np.uint32)
        self._given = 0

    def forget(self) -> None:
        """Empty the tables, which keep their room unless they are large."""
        used = max(self.stream.shape_count, self._given)
        if max(len(self.slots), len(self.shapes), len(self.definitions)) > _MOST_ROWS:
            self.clear()
            return
        self.shapes[:used].view(np.uint8)[:] = 0
        self.slots[:] = 0
        self._given = 0

    def use(self, shapes: NDArray[np.void]) -> None:
        """Begin with some shapes, which are copied."""
        self._given = len(shapes)
        while len(self.shapes) < len(shapes):
            self.shapes = _doubled(self.shapes)
        self.shapes[: len(shapes)] = shapes
        self.attach()

    def attach(self) -> None:
        """Tell the kernel where the tables are."""
        stream = self.stream
        stream.definitions = pointer(self.definitions, "struct skelgen_definition")
        stream.definition_capacity = len(self.definitions)
        stream.shapes = pointer(self.shapes, "struct skelgen_call_shape")
        stream.shape_capacity = len(self.shapes)
        stream.variants = pointer(self.variants, "struct skelgen_variant")
        stream.variant_capacity = len(self.variants)
        stream.slots = pointer(self.slots, "uint32_t")
        stream.slot_bits = max(len(self.slots).bit_length() - 1, 0)

    def grow(self, stop: int) -> bool:
        """Enlarge the table that is full; false when none is."""
        if stop == kernel().lib.SKELGEN_STOP_GROW_DEFINITIONS:
            self.definitions = _doubled(self.definitions)
        elif stop == kernel().lib.SKELGEN_STOP_GROW_SHAPES:
            self.shapes = _doubled(self.shapes)
        elif stop == kernel().lib.SKELGEN_STOP_GROW_VARIANTS:
            self.variants = _doubled(self.variants)
            bits = (2 * len(self.variants) - 1).bit_length()
            self.slots = np.zeros(1 << bits, np.uint32)
        else:
            return False
        self.attach()
        if stop == kernel().lib.SKELGEN_STOP_GROW_VARIANTS:
            kernel().lib.skelgen_decode_rehash(self.stream)
        return True


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    larger = np.zeros(max(2 * len(array), _FIRST_ROWS), array.dtype)
    larger[: len(array)] = array
    return larger


class Workspace:
    """A kernel stream and its tables: what is decoded next overwrites them."""

    def __init__(self) -> None:
        ffi = kernel().ffi
        self.stream = ffi.new("struct skelgen_stream *")
        self._bytes = ffi.buffer(self.stream)
        self._zeros = bytes(len(self._bytes))
        self.tables = DecodedTables(self.stream)

    @contextmanager
    def opened(self, data: Any, begin: int, end: int) -> Iterator[Any]:
        """Give a stream over some bytes, to be read from `begin` on.

        Parameters
        ----------
        data : bytes-like
        begin, end : int
            The part that is read [bytes].
        """
        ffi, stream = kernel().ffi, self.stream
        self._bytes[:] = self._zeros
        self.tables.attach()
        with ffi.from_buffer("uint8_t[]", data) as view:
            stream.data = view
            stream.size = end
            stream.position, stream.pause = begin, end
            try:
                yield stream
            finally:
                self.tables.forget()


def run(stream: Any, tables: DecodedTables) -> int:
    """Decode until the kernel stops for another reason than a full table."""
    while True:
        stop = int(kernel().lib.skelgen_decode(stream))
        if not tables.grow(stop):
            return stop
