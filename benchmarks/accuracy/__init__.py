"""How far are predictions from the truth? Applications x lengths x scenarios.

``python -m benchmarks.accuracy run`` measures on the test cluster (tests/testbed: root,
control groups, tc) and appends one JSON line for each run to a file, so a run that was
stopped goes on where it was; ``python -m benchmarks.accuracy report`` makes tables of
the file. Applications stand in applications.yaml; add yours there.
"""
