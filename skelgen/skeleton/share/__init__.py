"""Find one text for many ranks.

In: the programs of a `Plan`. Out: `Routine`: the calls of all ranks that share a text,
as `CallStep` with what each is on each rank, and the loops and stretches that are
written once.
Paper: Sodhi and Subhlok 2005, section III-C, step 4; the paper writes each rank alone.
"""
