"""The command line: words in, results on stdout, one clear line for each error.

In: what a user typed. Out: calls of the pipeline, launch and prediction, printed for
people or as JSON. Only `skelgen.cli.main.main` turns errors into exit codes.
"""
