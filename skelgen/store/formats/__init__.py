"""Read runs and predictions from files of many kinds, and write runs as such.

In: recorded runs, phase signatures, answers of skelgen, tables (CSV, JSON lines), files
of Extra-P. Out: rows of the store, each with an identity by which it is known when the
same file is read again; and tables and files of Extra-P.
"""
