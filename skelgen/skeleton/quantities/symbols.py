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

    def like(
        self, symbol: int, *, function: str | None = None, **columns: int
    ) -> tuple[PlanSymbols, int]:
        """Return the symbols with one that differs from another, and its row.

        Parameters
        ----------
        symbol : int
        function : str, optional
            MPI name, if it differs.
        **columns : int
            Of ``SYMBOL_DTYPE``, what else differs.
        """
        functions, row = self.functions, self.table[symbol : symbol + 1].copy()
        if function is not None:
            if function not in functions:
                functions = (*functions, function)
            row["function"] = functions.index(function)
        for name, value in columns.items():
            row[name] = value
        known = np.flatnonzero(self.table == row)
        if len(known):
            return self, int(known[0])
        table = np.concatenate([self.table, row])
        return PlanSymbols(functions, table), len(self.table)
