"""Compare the calls that a skeleton makes with those of its plan."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, zip_longest
from pathlib import Path

from skelgen.events import collect
from skelgen.loops import expand
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


def comparable(function: str) -> str:
    """Name a call as skeletons write it; empty for what cannot be compared."""
    name = function.removeprefix("MPI_")
    if name.startswith(_OTHERS) and not name.startswith("Reduce_"):
        return ""
    begins = (new for old, new in _WRITTEN.items() if name.startswith(old))
    return next(begins, name)


def planned(made: Plan) -> dict[int, list[str]]:
    """Return the calls of each rank of a plan that can be compared, in order."""
    found = {}
    for program in made.programs:
        functions = [made.symbols[one.symbol]["function"] for one in program.operations]
        names = [comparable(made.functions[function]) for function in functions]
        calls = [name for one in expand(program.nest).tolist() if (name := names[one])]
        found.update(dict.fromkeys(program.ranks, calls))
    return found


def recorded(folder: Path) -> dict[int, list[str]]:
    """Return the same of the ranks of a recorded run."""
    calls = collect(open_trace(folder)).calls
    names = [comparable(function) for function in calls.functions]
    of_call = calls.shapes["function"][calls.shape]
    return {
        rank: [name for one in of_call[first:last].tolist() if (name := names[one])]
        for rank, (first, last) in enumerate(pairwise(calls.first.tolist()))
    }


def differences(made: Plan, folder: Path) -> dict[str, tuple[object, object]]:
    """Return where a skeleton does other calls than planned.

    Those of ranks that serve whoever comes first have an order of their own: all ranks
    together are compared then.

    Returns
    -------
    dict of str to (object, object)
        Calls in the plan and in the recorded run of the skeleton, by function; else
        the first ones that differ, by rank.
    """
    wanted, found = planned(made), recorded(folder)
    sums = [
        Counter(name for calls in of.values() for name in calls)
        for of in (wanted, found)
    ]
    other: dict[str, tuple[object, object]] = {
        name: (sums[0][name], sums[1][name])
        for name in sorted({*sums[0], *sums[1]})
        if sums[0][name] != sums[1][name]
    }
    if other or made.served:
        return other
    for rank, calls in wanted.items():
        pairs = enumerate(zip_longest(calls, found[rank]))
        at = next((at for at, (one, two) in pairs if one != two), None)
        if at is not None:
            other[f"rank {rank}, call {at}"] = (
                calls[at : at + 3],
                found[rank][at : at + 3],
            )
    return other
