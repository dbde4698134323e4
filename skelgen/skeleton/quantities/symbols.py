"""The symbols and functions of a plan, to which passes may add calls of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, FunctionInfo, function_info
from skelgen.events.types import NO_PEER, NO_TAG

_NONBLOCKING = {"Send": "Isend", "Rsend": "Irsend", "Isend": "Isend"}


class GrowingSymbols:
    """The symbols and functions of a plan, which mending may add to."""

    def __init__(self, functions: Sequence[str], table: NDArray[np.void]) -> None:
        self.functions = list(functions)
        self.table = table
        self._nonblocking: dict[int, int] = {}
        self._plain: dict[str, int] = {}

    def kind(self, symbol: int) -> CallKind:
        """Return how a symbol takes part in communication."""
        return function_info(self.name(symbol)).kind

    def name(self, symbol: int) -> str:
        """Return the MPI name of a symbol's function."""
        return self.functions[int(self.table["function"][symbol])]

    def info(self, symbol: int) -> FunctionInfo:
        """Return what a symbol's call does."""
        return function_info(self.name(symbol))

    def mendable(self, symbol: int) -> bool:
        """Return whether a symbol is a send that may rely on buffering."""
        return self._short(symbol) in _NONBLOCKING

    def nonblocking(self, symbol: int) -> int:
        """Return the symbol that does the same without waiting."""
        if symbol not in self._nonblocking:
            name = f"MPI_{_NONBLOCKING[self._short(symbol)]}"
            row = self.table[symbol : symbol + 1].copy()
            row["function"] = self._function(name)
            self._nonblocking[symbol] = self._add(row)
        return self._nonblocking[symbol]

    def plain(self, name: str) -> int:
        """Return the symbol of a function that only names requests."""
        if name not in self._plain:
            row = np.zeros(1, self.table.dtype)
            row["function"] = self._function(name)
            row["family"], row["site"] = -1, 0
            row["peer"] = row["peer2"] = NO_PEER
            row["tag"] = row["tag2"] = NO_TAG
            row["size_class"] = -1
            self._plain[name] = self._add(row)
        return self._plain[name]

    def _short(self, symbol: int) -> str:
        return self.name(symbol).removeprefix("MPI_").removesuffix("_c")

    def _function(self, name: str) -> int:
        if name not in self.functions:
            self.functions.append(name)
        return self.functions.index(name)

    def _add(self, row: NDArray[np.void]) -> int:
        self.table = np.concatenate([self.table, row])
        return len(self.table) - 1
