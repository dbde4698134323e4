"""Fit functions to numbers: what was measured goes in, a fitted model comes out.

In: a `RunTable`, times or counts at a few workloads. Out: a `Model`, a readable formula
of one of the `families` with an interval and doubts, which `predict_with` asks and
`refit` carries to another machine. `disagreement` or `bisection` says which workload to
record next. Nothing here knows of traces, phases or stores.
Sources: Martinez Canillas 2011, table 2.1 and section 5.5; those of the families.
"""
