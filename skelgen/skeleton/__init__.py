"""Scale a signature down by K and write it as a C/MPI program.

In: `Signature` and K. Out: a `Plan`, checked by simulation, then ``skeleton.c``.
A skeleton is an order-preserving subset of whole matched events: in a run that
finished, every kept call has its partners, so it cannot block.
Rooms, each of which sees only those before it: `keep`, `quantities`, `proof` and
`task_farm` for the `passes` that `plan` and `paper2005` put in a row over a `Draft`;
`share` and `emit` for the text.
Paper: Sodhi and Subhlok 2005, sections III-C and III-D.
"""

from skelgen.skeleton.types import (
    KeptClass,
    OccurrenceSeries,
    Operation,
    Plan,
    Program,
    Report,
)

__all__ = ["KeptClass", "OccurrenceSeries", "Operation", "Plan", "Program", "Report"]
