"""The execution signature of a run, and its store on disk.

In: `Events`, `Matching`, `Symbols` and the nests of all ranks. Out: `Signature`;
`calls_of` goes back to `Calls`, so that a signature can be matched again.
Paper: Sodhi and Subhlok 2005, section III-B.
"""

from skelgen.signature.expand import calls_of
from skelgen.signature.summarise import summarise
from skelgen.signature.types import (
    CommunicatorFamily,
    Provenance,
    RankGroup,
    Signature,
    Spread,
)

__all__ = [
    "CommunicatorFamily",
    "Provenance",
    "RankGroup",
    "Signature",
    "Spread",
    "calls_of",
    "summarise",
]
