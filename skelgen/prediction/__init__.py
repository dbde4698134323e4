"""Predict the application's time from runs of its skeleton.

In: the folder of a skeleton and node sets. Out: for each set a `Prediction`, time
with interval and verdict; and the `Calibration` of the reference machine.
Paper: Sodhi and Subhlok 2005, section IV, measured scaling ratio.
"""

from skelgen.prediction.skeleton_facts import SkeletonFacts
from skelgen.prediction.types import (
    Calibration,
    Choice,
    Failure,
    Prediction,
    TrialFacts,
)

__all__ = [
    "Calibration",
    "Choice",
    "Failure",
    "Prediction",
    "SkeletonFacts",
    "TrialFacts",
]
