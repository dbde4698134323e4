"""Where phases begin and end, as counts that a recorder can keep while a program runs.

The **event count** of a rank is the number of calls it has made since ``MPI_Init``
returned, of all functions that the recorder writes events of except

- completions (``MPI_Wait...``, ``MPI_Test...``), probes and ``MPI_Parrived``, and
  ``MPI_Win_test``: how often they are called may differ from run to run;
- ``MPI_Cancel``, ``MPI_Request_free``, ``MPI_Pcontrol``, ``MPI_Abort``.

In terms of ``pmpi_shim/mpi_calls.toml``: every kind but init, finalize, complete,
probe, release, control, local and passed, and not ``MPI_Win_test``. A call counts when
its wrapper is entered, whether it fails or not. Calls of all threads of a rank count
together, calls while ``MPI_Pcontrol(0)`` pauses the recording do not, and those that
Fortran bindings make inside count once. In a program with sessions counting begins
where the recording does, behind the creation of its first communicator.

A **boundary** c of a rank is reached when its count is c and it enters its next call
that counts, the one with index c from 0, or ``MPI_Finalize``. The boundary's time is
the end of the last recorded call before that one, whether that counts or not (a
completion, say); that of boundary 0 the return from ``MPI_Init``, or when measured the
end of a completion or poll before the first call that counts. So an occurrence of
a phase with ``begin`` b and ``end`` e is the calls with index b to e - 1, and its time
on the rank is the time of boundary e less that of boundary b. A rank with b = e takes
no part.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, function_info


def counts(function: str) -> bool:
    """Say whether calls of an MPI function count.

    Examples
    --------
    >>> counts("MPI_Irecv"), counts("MPI_Waitall"), counts("MPI_Win_test")
    (True, False, False)
    """
    name = function.removesuffix(" (failed)")
    return function_info(name).begins and name != "MPI_Win_test"


def counted(calls: Calls) -> NDArray[np.bool_]:
    """Say which calls count."""
    of_function = np.array([counts(name) for name in calls.functions], np.bool_)
    found: NDArray[np.bool_] = of_function[calls.shapes["function"]][calls.shape]
    return found


def event_counts(calls: Calls, cut: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn numbers of calls of each rank into event counts.

    Parameters
    ----------
    calls : Calls
    cut : (ranks, m) int64 array
        As in `Phases`.

    Returns
    -------
    (ranks, m) int64 array
    """
    counting = counted(calls)
    found = np.empty_like(cut)
    for rank, (begin, end) in enumerate(pairwise(calls.first)):
        before = np.concatenate([[0], np.cumsum(counting[begin:end])])
        found[rank] = before[cut[rank]]
    return found
