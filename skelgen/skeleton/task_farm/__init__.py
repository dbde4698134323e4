"""Let masters serve whichever worker comes first, as they did in the application.

In: `Program` in the recorded order, and the `Script` of all ranks. Out: programs with
`Turn` and `Serving` where another order cannot make anybody wait for ever, and the
dealers whose order stays as it was recorded.
Paper: Sodhi and Subhlok 2005, section III-C, has no rule for it.
"""
