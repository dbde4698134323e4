"""A small process on each node that keeps how busy it is.

In: what the kernel counts. Out: series in files, one for each host and day, which
`series` reads back. Only the standard library, `errors` and `units` are imported.
"""
