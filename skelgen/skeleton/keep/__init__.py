"""Choose which whole matched events a skeleton keeps.

In: the nests of a `Signature`, its matching and the kept fraction. Out: `KeptCalls`,
the calls of each rank that stay: expanded with a weight, joined into units, rounded
to numbers, selected, and closed over their requests.
Paper: Sodhi and Subhlok 2005, section III-C, steps 1 and 2.
"""
