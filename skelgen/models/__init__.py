"""Fit functions of the workload: numbers in, fitted model out.

In: phase times or weights at a few workloads (name -> value). Out: a `Fit`, a readable
function with its error at points left out, other functions that fit as well, and
flags. `disagreement` or `bisection` says which workload to record next. Nothing here
knows of traces or phases.
Source: Martinez Canillas 2011, table 2.1 and section 5.5.
"""

from skelgen.models.fitting import fit
from skelgen.models.planning import Range, bisection, disagreement
from skelgen.models.predicting import predict
from skelgen.models.transfer import refit

__all__ = ["Range", "bisection", "disagreement", "fit", "predict", "refit"]
