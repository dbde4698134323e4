"""Scale a signature down by the rules of the 2005 paper, for comparison.

In: `Signature` and K. Out: a `Plan` in which each rank is divided on its own, or the
reason why such a skeleton does not finish.
Paper: Sodhi and Subhlok 2005, section III-C, steps 1 to 3.
"""
