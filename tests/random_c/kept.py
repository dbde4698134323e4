"""Compare the calls that a skeleton makes with those of its plan."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from skelgen.events import collect
from skelgen.skeleton.types import Plan
from skelgen.trace import open_trace

#: Calls that a skeleton also makes to set itself up and to report, or that it writes as
#: another call of the same meaning: one request is waited for or started by itself. How
#: often it polls is chance.
_OTHERS = ("Barrier", "Gather", "Reduce", "Wait", "Test", "Start", "Win_", "Comm_")
_OTHERS += ("Dist_graph_", "Request_free", "Iprobe")
#: Functions that skeletons write as others, by their beginnings: partitioned messages
#: are sent whole, neighbourhoods have one count or several, and a master receives from
#: whoever comes by nonblocking calls.
_WRITTEN = {
    "Rsend_init": "Send_init",
    "Rsend": "Send",
    "Irsend": "Isend",
    "Psend_init": "Send_init",
    "Precv_init": "Recv_init",
    "Irecv": "Recv",
    "Neighbor_": "Neighbor_",
    "Ineighbor_": "Ineighbor_",
}


def comparable(counts: Counter[str]) -> Counter[str]:
    """Name calls as skeletons write them; leave out what cannot be compared."""
    found: Counter[str] = Counter()
    for function, count in counts.items():
        name = function.removeprefix("MPI_")
        if not name.startswith(_OTHERS) or name.startswith("Reduce_"):
            begins = (new for old, new in _WRITTEN.items() if name.startswith(old))
            found[next(begins, name)] += count
    return found


def planned(made: Plan) -> Counter[str]:
    """Count the calls of a plan, of all ranks, by function."""
    found: Counter[str] = Counter()
    for program in made.programs:
        for operation in program.operations:
            name = made.functions[made.symbols[operation.symbol]["function"]]
            found[name] += operation.occurrences * len(program.ranks)
    return found


def recorded(folder: Path) -> Counter[str]:
    """Count the calls of a recorded run, of all ranks, by function."""
    calls = collect(open_trace(folder)).calls
    of_shape = calls.shapes["function"][calls.shape]
    numbers, counts = np.unique(of_shape, return_counts=True)
    pairs = zip(numbers.tolist(), counts.tolist(), strict=True)
    return Counter({calls.functions[number]: count for number, count in pairs})


def differences(made: Plan, folder: Path) -> dict[str, tuple[int, int]]:
    """Return functions that a skeleton calls more or less often than planned.

    Returns
    -------
    dict of str to (int, int)
        Calls in the plan and in the recorded run of the skeleton, by function.
    """
    wanted, found = comparable(planned(made)), comparable(recorded(folder))
    return {
        name: (wanted[name], found[name])
        for name in sorted({*wanted, *found})
        if wanted[name] != found[name]
    }
