"""Write a plan as C, and nothing else.

In: a `Plan` with the `Routine` of its ranks and a `ComputeCalibration`. Out: the text
of ``skeleton.c`` with its Makefile.
Paper: Sodhi and Subhlok 2005, section III-C, step 4.
"""
