"""Write what the calls of a skeleton work on.

In: a `Routine`. Out: tables of quantities, places of messages in memory, and the
communicators that are built before the timed region.
Paper: Sodhi and Subhlok 2005, section III-C, step 4.
"""
