"""What each MPI function does, as far as later stages care."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache


class CallKind(IntEnum):
    """How a call takes part in communication."""

    LOCAL = 0  # no communication: Comm_rank, Type_commit, failed polls
    SEND = 1
    RECEIVE = 2
    SENDRECV = 3
    ISEND = 4  # creates a request
    IRECEIVE = 5  # creates a request
    SEND_INIT = 6  # creates a persistent request
    RECEIVE_INIT = 7  # creates a persistent request
    START = 8  # activates persistent requests
    COMPLETE = 9  # Wait*, successful Test*
    PROBE = 10  # blocking probe, successful Iprobe
    COLLECTIVE = 11
    ICOLLECTIVE = 12  # creates a request
    COMMUNICATOR = 13  # creates or frees a communicator; set-up of a skeleton
    RELEASE = 14  # Request_free, Cancel
    UNSUPPORTED = 15  # communicates in a way that skeletons do not reproduce
    COLLECTIVE_INIT = 16  # creates a persistent request; collective itself
    ISENDRECV = 17  # creates a request for both messages
    RMA = 18  # moves data between ranks of a window, or orders that; waits for nobody
    SIGNAL = 19  # Win_post, Win_complete: tells several ranks
    AWAIT = 20  # Win_start, Win_wait: waits until several ranks have told
    IO = 21  # reads, writes or changes a file


#: Kinds whose calls send to, or receive from, one partner, now or when started.
SENDING = (
    CallKind.SEND,
    CallKind.ISEND,
    CallKind.SENDRECV,
    CallKind.ISENDRECV,
    CallKind.SEND_INIT,
)
RECEIVING = (
    CallKind.RECEIVE,
    CallKind.IRECEIVE,
    CallKind.SENDRECV,
    CallKind.ISENDRECV,
    CallKind.RECEIVE_INIT,
)
#: Kinds that do both: `peer2` is the source.
TWO_SIDED = (CallKind.SENDRECV, CallKind.ISENDRECV)
#: Kinds whose calls name several partners instead of requests.
WITH_PARTNERS = (CallKind.SIGNAL, CallKind.AWAIT)
#: Kinds that make a request which calls start.
PERSISTENT = (CallKind.SEND_INIT, CallKind.RECEIVE_INIT, CallKind.COLLECTIVE_INIT)
COLLECTIVES = (CallKind.COLLECTIVE, CallKind.ICOLLECTIVE, CallKind.COLLECTIVE_INIT)
_BEGINNING_NOTHING = (
    CallKind.LOCAL,
    CallKind.COMPLETE,
    CallKind.PROBE,
    CallKind.RELEASE,
)
_CREATING = {
    CallKind.ISEND,
    CallKind.IRECEIVE,
    CallKind.ISENDRECV,
    CallKind.ICOLLECTIVE,
    *PERSISTENT,
}


@dataclass(frozen=True, slots=True)
class FunctionInfo:
    """Properties of an MPI function.

    Attributes
    ----------
    kind : CallKind
    mode : str
        Send mode: ``standard``, ``synchronous``, ``buffered``, ``ready``,
        ``partitioned``; else "".
    rooted : bool
        Whether the collective has a root.
    vector : bool
        Whether the collective takes a count for each rank, or one of a neighbourhood
        for each neighbour.
    collective : str
        Name of the blocking collective that this is a form of, such as ``Allreduce``;
        "" for other functions.
    extra_request : bool
        Whether a call creates a request although its kind does not say so.
    """

    kind: CallKind
    mode: str = ""
    rooted: bool = False
    vector: bool = False
    collective: str = ""
    extra_request: bool = False

    @property
    def neighbourhood(self) -> bool:
        """Return whether the collective sends only to neighbours of a topology."""
        return self.collective.startswith("Neighbor_")

    @property
    def reduces(self) -> bool:
        """Return whether the collective combines what the ranks contribute."""
        words = ("reduce", "scan")
        return any(word in self.collective.lower() for word in words)

    @property
    def creates(self) -> bool:
        """Return whether a call creates a request, for requests are aged by it."""
        return self.extra_request or self.kind in _CREATING

    @property
    def begins(self) -> bool:
        """Return whether a call begins communication.

        How many calls only end it, or look for it, can differ from run to run.
        """
        return self.kind not in _BEGINNING_NOTHING

    @property
    def persistent(self) -> bool:
        """Return whether that request is a persistent one."""
        return self.kind in PERSISTENT


_MODES = {
    "": "standard",
    "S": "synchronous",
    "B": "buffered",
    "R": "ready",
}
_COLLECTIVES = (
    "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall "
    "Alltoallv Alltoallw Reduce Allreduce Reduce_scatter Reduce_scatter_block Scan "
    "Exscan"
).split()
_NEIGHBOURHOOD = (
    "Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv "
    "Neighbor_alltoallw"
).split()
_ROOTED = {"Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce"}
_VECTOR = {
    "Gatherv",
    "Scatterv",
    "Allgatherv",
    "Alltoallv",
    "Alltoallw",
    "Reduce_scatter",
    *_NEIGHBOURHOOD,
}
_COMMUNICATOR = (
    "Comm_dup Comm_dup_with_info Comm_split Comm_split_type Comm_create "
    "Comm_create_group Cart_create Cart_sub Graph_create Dist_graph_create "
    "Dist_graph_create_adjacent Intercomm_create Intercomm_merge Comm_free "
    "Comm_disconnect"
).split()

_WINDOW = (
    "Win_create Win_allocate Win_allocate_shared Win_create_dynamic Win_free"
).split()
_OPERATIONS = "Put Get Accumulate Get_accumulate".split()
_RMA = (
    *_OPERATIONS,
    *"Fetch_and_op Compare_and_swap Win_lock Win_lock_all Win_unlock Win_unlock_all "
    "Win_flush Win_flush_all Win_flush_local Win_flush_local_all Win_sync".split(),
)
_IO = (
    "open close delete preallocate set_size set_view sync read read_all read_all_begin "
    "read_all_end read_at read_at_all read_at_all_begin read_at_all_end read_ordered "
    "read_ordered_begin read_ordered_end read_shared write write_all write_all_begin "
    "write_all_end write_at write_at_all write_at_all_begin write_at_all_end "
    "write_ordered write_ordered_begin write_ordered_end write_shared"
).split()
_NONBLOCKING_IO = "read read_all read_at read_at_all read_shared".split()


_UNSUPPORTED = (
    "Buffer_iflush Comm_iflush_buffer Session_iflush_buffer Grequest_start"
).split()


def _messages() -> dict[str, FunctionInfo]:
    """Return what begins and ends messages."""
    table: dict[str, FunctionInfo] = {}
    for letter, mode in _MODES.items():
        name = f"{letter}send" if letter else "Send"
        table[name] = FunctionInfo(CallKind.SEND, mode)
        table[f"I{letter.lower()}send"] = FunctionInfo(CallKind.ISEND, mode)
        table[f"{name}_init"] = FunctionInfo(CallKind.SEND_INIT, mode)
    for name in ("Recv", "Mrecv"):
        table[name] = FunctionInfo(CallKind.RECEIVE)
    for name in ("Irecv", "Imrecv"):
        table[name] = FunctionInfo(CallKind.IRECEIVE)
    table["Recv_init"] = FunctionInfo(CallKind.RECEIVE_INIT)
    for name in ("sendrecv", "sendrecv_replace"):
        table[name.capitalize()] = FunctionInfo(CallKind.SENDRECV)
        table[f"I{name}"] = FunctionInfo(CallKind.ISENDRECV)
    table["Psend_init"] = FunctionInfo(CallKind.SEND_INIT, "partitioned")
    table["Precv_init"] = FunctionInfo(CallKind.RECEIVE_INIT, "partitioned")
    for name in ("Start", "Startall"):
        table[name] = FunctionInfo(CallKind.START)
    for name in ("Wait", "Test"):
        for end in ("", "all", "any", "some"):
            table[name + end] = FunctionInfo(CallKind.COMPLETE)
    for name in ("Probe", "Iprobe", "Mprobe", "Improbe", "Parrived"):
        table[name] = FunctionInfo(CallKind.PROBE)
    for end in ("", "_all", "_any", "_some"):
        table[f"Request_get_status{end}"] = FunctionInfo(CallKind.PROBE)
    for name in ("Request_free", "Cancel"):
        table[name] = FunctionInfo(CallKind.RELEASE)
    return table


def _collectives() -> dict[str, FunctionInfo]:
    """Return what all ranks of a communicator do, or make one by."""
    table: dict[str, FunctionInfo] = {}
    for name in (*_COLLECTIVES, *_NEIGHBOURHOOD):
        forms = {
            name: CallKind.COLLECTIVE,
            f"I{name[0].lower()}{name[1:]}": CallKind.ICOLLECTIVE,
            f"{name}_init": CallKind.COLLECTIVE_INIT,
        }
        for form, kind in forms.items():
            table[form] = FunctionInfo(kind, "", name in _ROOTED, name in _VECTOR, name)
    for name in _COMMUNICATOR:
        table[name] = FunctionInfo(CallKind.COMMUNICATOR)
    for name in _UNSUPPORTED:
        table[name] = FunctionInfo(CallKind.UNSUPPORTED, extra_request=True)
    for name in ("Comm_idup", "Comm_idup_with_info"):
        table[name] = FunctionInfo(CallKind.COMMUNICATOR, extra_request=True)
    return table


def _windows_and_files() -> dict[str, FunctionInfo]:
    """Return what reaches the memory of others, or files."""
    table: dict[str, FunctionInfo] = {}
    for name in _WINDOW:
        table[name] = FunctionInfo(CallKind.COMMUNICATOR)
    for name in _RMA:
        table[name] = FunctionInfo(CallKind.RMA)
    for name in _OPERATIONS:
        table[f"R{name.lower()}"] = FunctionInfo(CallKind.RMA, extra_request=True)
    table["Win_fence"] = FunctionInfo(CallKind.COLLECTIVE, collective="Win_fence")
    for name in ("Win_post", "Win_complete"):
        table[name] = FunctionInfo(CallKind.SIGNAL)
    for name in ("Win_start", "Win_wait", "Win_test"):
        table[name] = FunctionInfo(CallKind.AWAIT)
    for name in _IO:
        table[f"File_{name}"] = FunctionInfo(CallKind.IO)
    for name in _NONBLOCKING_IO:
        for form in (f"File_i{name}", f"File_i{name.replace('read', 'write')}"):
            table[form] = FunctionInfo(CallKind.IO, extra_request=True)
    return table


_TABLE = {**_messages(), **_collectives(), **_windows_and_files()}
_LOCAL = FunctionInfo(CallKind.LOCAL)


@cache
def function_info(name: str) -> FunctionInfo:
    """Look up an MPI function by name, with or without ``_c``.

    Functions that are not known count as local: their time is computation.

    Examples
    --------
    >>> function_info("MPI_Isend").kind.name
    'ISEND'
    >>> function_info("MPI_Comm_rank").kind.name
    'LOCAL'
    """
    short = name.removeprefix("MPI_").removesuffix("_c")
    return _TABLE.get(short, _LOCAL)
