"""The shortest skeleton that can be good.

The dominant sequence is made of the calls, with the computation before them, that are
repeated most and together hold most of the application's time: usually the body of
one inner loop. A skeleton is good when it holds one full iteration of it, so K may be
as large as the dominant call that is repeated least.
"""

from __future__ import annotations

import numpy as np

from skelgen.signature import Signature
from skelgen.skeleton.thresholds import DOMINANT_TIME_SHARE


def largest_good_scaling_factor(signature: Signature) -> float:
    """Return the scaling factor of the shortest good skeleton [1].

    Parameters
    ----------
    signature : Signature

    Returns
    -------
    float
        1 when nothing dominant repeats.

    References
    ----------
    Sodhi and Subhlok 2005, section III-D.
    """
    groups = signature.groups
    time_ns = np.concatenate(
        [(group.before_ns + group.mpi_ns).sum(axis=1) for group in groups]
    )
    count = np.concatenate([group.count for group in groups])
    total_ns = time_ns.sum() + sum(float(group.after_ns.sum()) for group in groups)
    order = np.argsort(-count, kind="stable")
    held = np.cumsum(time_ns[order]) >= DOMINANT_TIME_SHARE * total_ns
    if total_ns <= 0 or not held.any():
        return 1.0
    return float(max(1, count[order[int(np.argmax(held))]]))
