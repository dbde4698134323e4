"""Measure the reference machine: what computation costs there, and what it consists of.

In: a compiler, and this machine. Out: `ComputeCalibration`, the fixed work that stands
for a microsecond of computation, and a `Fit` of the shares of arithmetic, streaming
and pointer chasing to slowdowns beside known competitors. Measured once and kept.
Paper: Sodhi and Subhlok 2005, section III-C, step 4.
"""
