"""Whether ranks poll for what a call waits for, and sleep between their polls."""

from __future__ import annotations

from skelgen.signature import RankGroup
from skelgen.skeleton.quantities.strings import INSERTED
from skelgen.skeleton.thresholds import LEAST_NAP_SHARE, LEAST_POLLS


def nap_ns(group: RankGroup, leaf: int) -> float | None:
    """Return how long a rank sleeps between two polls for what a call waits for.

    Parameters
    ----------
    group : RankGroup
    leaf : int
        The call, or INSERTED.

    Returns
    -------
    float or None
        Mean of all such sleeps [ns]; 0 where most of the waiting is no sleep. None
        where the ranks wait inside MPI: most of its occurrences have no poll.
    """
    if leaf == INSERTED:
        return None
    polls = float(group.polls[leaf].sum())
    occurrences = int(group.count[leaf]) * len(group.ranks)
    if polls < LEAST_POLLS * occurrences:
        return None
    # There is none behind the poll that finds it.
    sleeps = max(polls - occurrences, polls / 2)
    slept_ns = float(group.nap_ns[leaf].sum())
    waited_ns = float(group.mpi_ns[leaf].sum())
    return slept_ns / sleeps if slept_ns > LEAST_NAP_SHARE * waited_ns else 0.0
