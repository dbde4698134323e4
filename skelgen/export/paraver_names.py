"""Numbers of Paraver traces as Extrae gives them, so that its configurations work."""

from __future__ import annotations

from skelgen.documents.text_of_bytes import printable
from skelgen.events.functions import (
    COLLECTIVES,
    RECEIVING,
    SENDING,
    CallKind,
    function_info,
)

#: Event types; the value is the function, 0 at its end.
POINT_TO_POINT, COLLECTIVE, OTHER, ONE_SIDED, FILES = range(50000001, 50000006)
TYPE_NAMES = {
    POINT_TO_POINT: "MPI Point-to-point",
    COLLECTIVE: "MPI Collective Comm",
    OTHER: "MPI Other",
    ONE_SIDED: "MPI One-sided",
    FILES: "MPI I/O",
}
#: What a collective sends and receives, whether it is the root, and where.
SEND_SIZE, RECEIVE_SIZE, IS_ROOT, COMMUNICATOR = range(50100001, 50100005)
SIZE_NAMES = {
    SEND_SIZE: "Send Size in MPI Global OP",
    RECEIVE_SIZE: "Recv Size in MPI Global OP",
    IS_ROOT: "Root in MPI Global OP",
    COMMUNICATOR: "Communicator in MPI Global OP",
}
#: Functions that Extrae does not know get numbers from here on.
FIRST_OWN_VALUE = 1000

_VALUES = (
    "Send Recv Isend Irecv Wait Waitall Bcast Barrier Reduce Allreduce Alltoall "
    "Alltoallv Gather Gatherv Scatter Scatterv Allgather Allgatherv Comm_rank "
    "Comm_size Comm_create Comm_dup Comm_split Comm_group Comm_free "
    "Comm_remote_group Comm_remote_size Comm_test_inter Comm_compare Scan Init "
    "Finalize Bsend Ssend Rsend Ibsend Issend Irsend Test Cancel Sendrecv "
    "Sendrecv_replace Cart_create Cart_shift Cart_coords Cart_get Cart_map Cart_rank "
    "Cart_sub Cartdim_get Dims_create Graph_get Graph_map Graph_create "
    "Graph_neighbors Graphdims_get Graph_neighbors_count Topo_test Waitany Waitsome "
    "Probe Iprobe Win_create Win_free Put Get Accumulate Win_fence Win_start "
    "Win_complete Win_post Win_wait Win_test Win_lock Win_unlock Pack Unpack "
    "Op_create Op_free Reduce_scatter Attr_delete Attr_get Attr_put "
    "Group_difference Group_excl Group_free Group_incl Group_intersection Group_rank "
    "Group_range_excl Group_range_incl Group_size Group_translate_ranks Group_union "
    "Group_compare Intercomm_create Intercomm_merge Keyval_free Keyval_create Abort "
    "Error_class Errhandler_create Errhandler_free Errhandler_get Error_string "
    "Errhandler_set Get_processor_name Initialized Wtick Wtime Address Bsend_init "
    "Buffer_attach Buffer_detach Request_free Recv_init Send_init Get_count "
    "Get_elements Pack_size Rsend_init Ssend_init Start Startall Testall Testany "
    "Test_cancelled Testsome Type_commit Type_contiguous Type_extent Type_free "
    "Type_hindexed Type_hvector Type_indexed Type_lb Type_size Type_struct Type_ub "
    "Type_vector File_open File_close File_read File_read_all File_write "
    "File_write_all File_read_at File_read_at_all File_write_at File_write_at_all "
    "Comm_spawn Comm_spawn_multiple Request_get_status Ireduce Iallreduce Ibarrier "
    "Ibcast Ialltoall Ialltoallv Iallgather Iallgatherv Igather Igatherv Iscatter "
    "Iscatterv Ireduce_scatter Iscan Reduce_scatter_block Ireduce_scatter_block "
    "Alltoallw Ialltoallw Get_accumulate Dist_graph_create Neighbor_allgather "
    "Ineighbor_allgather Neighbor_allgatherv Ineighbor_allgatherv Neighbor_alltoall "
    "Ineighbor_alltoall Neighbor_alltoallv Ineighbor_alltoallv Neighbor_alltoallw "
    "Ineighbor_alltoallw Fetch_and_op Compare_and_swap Win_flush Win_flush_all "
    "Win_flush_local Win_flush_local_all Mprobe Improbe Mrecv Imrecv"
).split()
_NUMBERS = {name: number for number, name in enumerate(_VALUES, 1)}
_NUMBERS["Init_thread"] = _NUMBERS["Init"]
_ONE_SIDED = (
    "Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap Rput Rget "
    "Raccumulate Rget_accumulate"
).split()
_POINT_TO_POINT_KINDS = (*SENDING, *RECEIVING, CallKind.PROBE)
_WAITS = ("Wait", "Waitall", "Waitany", "Waitsome", "Cancel", "Iprobe", "Improbe")

#: States and their names; what they mean follows Extrae.
STATES = {
    0: ("Idle", (117, 195, 255)),
    1: ("Running", (0, 0, 255)),
    2: ("Not created", (255, 255, 255)),
    3: ("Waiting a message", (255, 0, 0)),
    4: ("Blocking Send", (255, 0, 174)),
    5: ("Synchronization", (179, 0, 0)),
    6: ("Test/Probe", (0, 255, 0)),
    8: ("Wait/WaitAll", (235, 0, 0)),
    10: ("Immediate Send", (255, 0, 255)),
    11: ("Immediate Receive", (100, 100, 177)),
    12: ("I/O", (172, 174, 41)),
    13: ("Group Communication", (255, 144, 26)),
    15: ("Others", (192, 224, 0)),
    16: ("Send Receive", (66, 66, 66)),
    20: ("Remote memory access", (0, 109, 255)),
}
RUNNING, NOT_CREATED = 1, 2
_STATE_OF_KIND = {
    CallKind.SEND: 4,
    CallKind.RECEIVE: 3,
    CallKind.SENDRECV: 16,
    CallKind.ISEND: 10,
    CallKind.IRECEIVE: 11,
    CallKind.COMPLETE: 8,
    CallKind.PROBE: 6,
    CallKind.COLLECTIVE: 13,
    CallKind.ICOLLECTIVE: 13,
}
_STATE_OF_TYPE = {FILES: 12, ONE_SIDED: 20}


def short(function: str) -> str:
    """Return a function's name without ``MPI_``, ``_c`` and a remark.

    Examples
    --------
    >>> short("MPI_Send_c (failed)")
    'Send'
    """
    name = function.partition(" ")[0].removeprefix("MPI_").removesuffix("_c")
    return printable(name)


def event_type(function: str) -> int:
    """Return the type of the events of a function.

    Examples
    --------
    >>> event_type("MPI_Iallreduce") == COLLECTIVE, event_type("MPI_Test") == OTHER
    (True, True)
    """
    name = short(function)
    kind = function_info(name).kind
    if name in _ONE_SIDED or name.startswith("Win_"):
        return ONE_SIDED
    if kind in COLLECTIVES:
        return COLLECTIVE
    if kind in _POINT_TO_POINT_KINDS or name in _WAITS:
        return POINT_TO_POINT
    if name.startswith("File_"):
        return FILES
    return OTHER


def event_value(function: str) -> int:
    """Return Extrae's number of a function, 0 when it has none."""
    return _NUMBERS.get(short(function), 0)


def state(function: str) -> int:
    """Return the state of a thread within a function.

    Examples
    --------
    >>> STATES[state("MPI_Barrier")][0], STATES[state("MPI_Testall")][0]
    ('Synchronization', 'Test/Probe')
    """
    name = short(function)
    if name in ("Barrier", "Ibarrier"):
        return 5
    if name.startswith(("Test", "Iprobe", "Improbe")):
        return 6
    kind = event_type(function)
    if kind in _STATE_OF_TYPE:
        return _STATE_OF_TYPE[kind]
    return _STATE_OF_KIND.get(function_info(name).kind, 15)
