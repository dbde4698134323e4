"""The execution signature of a run, and its store on disk.

In: `Events`, `Matching`, `Symbols` and the nests of all ranks. Out: `Signature`.
Paper: Sodhi and Subhlok 2005, section III-B.
"""

from skelgen.signature.types import Family, Provenance, RankGroup, Signature, Spread

__all__ = ["Family", "Provenance", "RankGroup", "Signature", "Spread"]
