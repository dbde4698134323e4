"""The CPU that a new process would get, from what other tools know of a node."""

from __future__ import annotations

import math

from skelgen.monitor.sharing import (
    Level,
    Rival,
    SharingFacts,
    available,
    fewest,
    fullest,
)
from skelgen.sources.types import Usage

#: More than all cores may be at work by so much: counters are read one after another.
_SLACK = 0.05
#: No kernel of Linux has more.
MOST_THREADS = 2.0**22


def available_cpu(usage: Usage) -> float:
    """Estimate the share of a core that a new process would get.

    The threads that compete are not known. There are as many as run or wait for a core
    on average, and no fewer than can have done the work. Nothing is known of control
    groups, priorities, and threads that are bound to cores.

    Parameters
    ----------
    usage : Usage

    Returns
    -------
    float
        Available CPU [0 to 1]; nan where cores or work are not known, or more than all
        cores worked.

    References
    ----------
    Yagnik 2006, section 2.1; the rule is that of `skelgen.monitor.sharing`.

    Examples
    --------
    One of two cores at work, then one core that three threads share:

    >>> available_cpu(Usage("n1", 0.0, cores=2, busy=1.0, stolen=0.0))
    1.0
    >>> one = Usage("n1", 0.0, cores=1, busy=1.0, stolen=0.0, run_queue=3.0)
    >>> available_cpu(one)
    0.25
    """
    cores, stolen = usage.cores, 0.0 if math.isnan(usage.stolen) else usage.stolen
    if not (1 <= cores <= MOST_THREADS and 0 <= usage.busy <= cores * (1 + _SLACK)):
        return math.nan
    most = fullest(int(cores), usage.busy, usage.interrupts, stolen)
    used = min(max(usage.busy - usage.interrupts, 0.0), cores)
    threads: float = fewest(used)
    if usage.run_queue <= MOST_THREADS:
        threads = max(threads, usage.run_queue)
    rivals = (Rival(threads, used),) if threads else ()
    return available(SharingFacts(int(cores), (Level(rivals),), fullest=most))
