"""Prove that programs finish, and change sends that relied on buffers.

In: `Program` of all ranks. Out: a `Flaw` or none, from running their calls without
times, and programs whose stalling sends are nonblocking.
Paper: Sodhi and Subhlok 2005, section III-C, which does not say why the result cannot
block.
"""
