"""Cluster events into symbols.

In: `Events` and `Matching`. Out: `Symbols`, one symbol for each call.
Paper: Sodhi and Subhlok 2005, section III-B, clustering similar execution events.
"""

from skelgen.symbols.types import OUTSIDE, SYMBOL_DTYPE, VARYING, Symbols

__all__ = ["OUTSIDE", "SYMBOL_DTYPE", "VARYING", "Symbols"]
