"""The symbols and functions of a plan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, FunctionInfo, function_info


@dataclass(frozen=True, slots=True, eq=False)
class PlanSymbols:
    """The symbols and functions of a plan. A pass that adds some makes a new table.

    Attributes
    ----------
    functions : tuple of str
        MPI names: those of the signature, then those that passes added.
    table : (s,) SYMBOL_DTYPE array
        The same of symbols; the column ``function`` is a place in `functions`.
    """

    functions: tuple[str, ...]
    table: NDArray[np.void]

    def kind(self, symbol: int) -> CallKind:
        """Return how a symbol takes part in communication."""
        return function_info(self.name(symbol)).kind

    def name(self, symbol: int) -> str:
        """Return the MPI name of a symbol's function."""
        return self.functions[int(self.table["function"][symbol])]

    def info(self, symbol: int) -> FunctionInfo:
        """Return what a symbol's call does."""
        return function_info(self.name(symbol))
