"""Decisions of planning, one in each module: `skeleton.plan` puts them in a row.

In: a `Draft`. Out: the `Draft` with what the pass decides, and what it doubts.
A pattern of communication is a pass: it says where it applies, what the skeleton does
instead, and in what that is unlike the application.
Paper: Sodhi and Subhlok 2005, section III-C.
"""
