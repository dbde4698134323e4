"""Give the kept calls their bytes and their computation.

In: `KeptCalls` and the samples of a `Signature`. Out: `Program` for the ranks that
share one: loops over operations, each with sizes that agree at both ends and the
computation before it.
Paper: Sodhi and Subhlok 2005, section III-C, step 3.
"""
