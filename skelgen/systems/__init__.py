"""Systems: what hosts and the links between them can do, measured.

In: hosts and how programs reach them. Out: facts of hosts (rates of arithmetic,
bandwidths, cache sizes, the platform contribution) and laws of the time of MPI
operations. Nothing here knows a store.
Papers: Prophesy 2005, 3.2 (systems database); WRF 2010, II-D and II-E.
"""

from skelgen.systems.types import (
    OperationTimes,
    SizeLaw,
    Stretch,
    SystemFact,
    SystemMeasurement,
    time_in,
)

__all__ = [
    "OperationTimes",
    "SizeLaw",
    "Stretch",
    "SystemFact",
    "SystemMeasurement",
    "time_in",
]
