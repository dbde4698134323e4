"""Phase times and weights as functions of the workload.

In: recorded runs of one program at several workloads, reduced to their phases. Out: a
`Study`, which file it is in, which workload to record next, and a `WorkloadTime`, the
time at another one. `skelgen.models` finds the functions.
Source: Martinez Canillas 2011, chapter 5.
"""

from skelgen.workload.cuts import aligned
from skelgen.workload.parts import matched, share_known
from skelgen.workload.predicting import WorkloadTime, next_workload, predict_workload
from skelgen.workload.types import Study

__all__ = [
    "Study",
    "WorkloadTime",
    "aligned",
    "matched",
    "next_workload",
    "predict_workload",
    "share_known",
]
