"""The store of ``skelgen serve --demo``: measure what is missing, write the file.

``python -m benchmarks.demonstration measure --results FOLDER`` runs the matrix product
and measures its two systems on the test cluster (root, 10 minutes); it goes on where it
ended. ``python -m benchmarks.demonstration write --results FOLDER --kernels FILE
--multicore FILE --real FOLDER`` makes the file that skelgen ships of that and of what
the benchmarks of models measured (`benchmarks.models` kernels, multicore and real).
"""
