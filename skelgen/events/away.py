"""Three kinds of time before a call: on a core, waiting for a core, asleep.

The recorder looks at long gaps only, those in which a thread may have lost its core.
What others took of such a gap is no computation: on a quiet machine the gap would have
been shorter. What the thread slept is none either, but the gap would have been as long.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: Time without a core before a call: taken by others, and asleep [ns].
AWAY_DTYPE = np.dtype(
    [("call", np.int64), ("queued_ns", np.int64), ("asleep_ns", np.int64)]
)


def no_time_away() -> NDArray[np.void]:
    """Return the table of ranks that always had their cores."""
    return np.zeros(0, AWAY_DTYPE)


def take_out(compute_ns: NDArray[np.int64], away: NDArray[np.void]) -> NDArray[np.void]:
    """Take the time without a core out of the time before each event.

    Parameters
    ----------
    compute_ns : (n,) int64 array
        Time before each event [ns]; becomes the time on a core.
    away : structured array
        ``struct skelgen_away`` of the decoder, by event.

    Returns
    -------
    AWAY_DTYPE array
        What was taken out, by the place of the event.

    Examples
    --------
    >>> names = ("event", "queued_us", "asleep_us")
    >>> rows = np.array([(1, 2, 5)], [(name, "i8") for name in names])
    >>> compute_ns = np.array([100, 6000])
    >>> take_out(compute_ns, rows).tolist(), compute_ns.tolist()
    ([(1, 2000, 4000)], [100, 0])
    """
    found = np.zeros(len(away), AWAY_DTYPE)
    found["call"] = away["event"]
    for name, column in (("queued_ns", "queued_us"), ("asleep_ns", "asleep_us")):
        had_ns = compute_ns[found["call"]]
        found[name] = np.minimum(away[column] * 1000, had_ns)
        compute_ns[found["call"]] = had_ns - found[name]
    return found


def without(away: NDArray[np.void], rows: NDArray[np.int64]) -> NDArray[np.void]:
    """Return the table of events of which some were taken out (ascending rows)."""
    kept = away[~np.isin(away["call"], rows)]
    kept["call"] -= np.searchsorted(rows, kept["call"])
    return kept


def moved(away: NDArray[np.void], place: NDArray[np.int64]) -> NDArray[np.void]:
    """Return the table of calls in another order; `place` says where each went."""
    found = away.copy()
    found["call"] = place[away["call"]]
    return found[np.argsort(found["call"], kind="stable")]


def of_all(tables: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """Join the tables of ranks."""
    return np.concatenate([no_time_away(), *tables])


def asleep_before(away: NDArray[np.void], calls: slice) -> NDArray[np.int64] | None:
    """Return how long a rank slept before each of its calls [ns]; None for never.

    Parameters
    ----------
    away : AWAY_DTYPE array
        Of all ranks.
    calls : slice
        Those of the rank.
    """
    own = away[slice(*np.searchsorted(away["call"], (calls.start, calls.stop)))]
    if not own["asleep_ns"].any():
        return None
    asleep_ns = np.zeros(calls.stop - calls.start, np.int64)
    asleep_ns[own["call"] - calls.start] = own["asleep_ns"]
    return asleep_ns
