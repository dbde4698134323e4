"""Write single MPI calls.

In: a `CallStep` and its `Surroundings`. Out: C statements: the computation before the
call, the call with its arguments, and what completes it.
Paper: Sodhi and Subhlok 2005, section III-C, step 4.
"""
