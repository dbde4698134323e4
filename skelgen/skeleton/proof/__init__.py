"""Prove that programs finish, or say who waits for whom.

In: `Program` of all ranks. Out: a `Flaw` or none, from running their calls without
times.
Paper: Sodhi and Subhlok 2005, section III-C, which does not say why the result cannot
block.
"""
