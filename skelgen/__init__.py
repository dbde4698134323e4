"""Predict how long an MPI program takes on shared nodes by running its skeleton.

A recorded run becomes an execution signature, the signature a skeleton: a short
C/MPI program that takes 1/K of the application's time in any sharing scenario.

References
----------
Sodhi and Subhlok, "Performance Prediction with Skeletons", 2005.
"""

__version__ = "0.1.0"
