"""The OTF2 library (version 3), loaded when it is needed: skelgen needs none to run."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from skelgen.errors import MachineError
from skelgen.export.kernel import records

#: Debian renames the library; the number is that of OTF2 3.
_NAMES = ("libotf2.so.10", "libopen-trace-format2.so.10")

#: Numbers of the interface that are used here.
WRITE, POSIX, NO_COMPRESSION, FLUSH, EVENTS = 0, 1, 1, 1, 3
EVENT_CHUNK_BYTES, DEFINITION_CHUNK_BYTES = 1 << 20, 1 << 22
UNDEFINED = 0xFFFFFFFF
MPI_PARADIGM, PROCESS, CPU_THREAD = 4, 1, 1
PROCESS_CLASS = 0
ROOT_NONE, ROOT_SELF, ROOT_THIS_GROUP = UNDEFINED, UNDEFINED - 1, UNDEFINED - 2
GROUP_COMM_LOCATIONS, GROUP_COMM_GROUP, GROUP_COMM_SELF = 4, 5, 6
#: Roles of regions.
FUNCTION, BARRIER, ONE_TO_ALL, ALL_TO_ONE, ALL_TO_ALL, OTHER = 1, 15, 23, 24, 25, 26
FILES, POINT_TO_POINT, ONE_SIDED = 27, 28, 29
#: What the library writes, as the kernel numbers it: ``OTF2_EvtWriter_`` and the name.
EVENT_NAMES = tuple(
    "Enter Leave MpiSend MpiIsend MpiIsendComplete MpiIrecvRequest MpiRecv MpiIrecv "
    "MpiCollectiveBegin MpiCollectiveEnd NonBlockingCollectiveRequest "
    "NonBlockingCollectiveComplete MpiRequestCancelled".split()
)
ENTER, LEAVE, SEND, ISEND, ISEND_COMPLETE, IRECV_REQUEST, RECV, IRECV = range(8)
COLLECTIVE_BEGIN, COLLECTIVE_END, COLLECTIVE_REQUEST = 8, 9, 10
COLLECTIVE_COMPLETE, CANCELLED = 11, 12
#: Collectives by the name of the blocking form, in lower case.
COLLECTIVE_NUMBERS = {
    name: number
    for number, name in enumerate(
        "barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall "
        "alltoallv alltoallw allreduce reduce reduce_scatter scan exscan "
        "reduce_scatter_block".split()
    )
}


def interface() -> Any:
    """Return the declarations of what is used of the library: cffi's, of a kernel."""
    return records().ffi


@cache
def library() -> Any:
    """Load the library.

    Returns
    -------
    struct skelgen_otf2_library
        Its functions by their names.

    Raises
    ------
    MachineError
        When it is missing.
    """
    for name in _NAMES:
        try:
            return _functions(ctypes.CDLL(name))
        except (OSError, AttributeError):  # it is not there, or lacks a function
            continue
    # Only the sentence for a machine without it needs this: it loads many modules.
    from ctypes.util import find_library

    other = find_library("otf2")
    found = f"only {other} was found" if other else "it was not found"
    raise MachineError(
        f"--format otf2 needs the OTF2 library, version 3 ({_NAMES[0]}), and {found}; "
        "install it (Debian: apt-get install libopen-trace-format2-10)"
    )


def _functions(loaded: ctypes.CDLL) -> Any:
    """Return the functions of the library as the kernel declares them."""
    ffi = interface()
    functions = ffi.new("struct skelgen_otf2_library *")
    for name, field in ffi.typeof("struct skelgen_otf2_library").fields:
        where = ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value
        setattr(functions, name, ffi.cast(field.type, where))
    return functions


def check(result: int) -> None:
    """Turn an error of the library into ours."""
    if result:
        text = interface().string(library().OTF2_Error_GetDescription(result))
        assert isinstance(text, bytes)
        raise MachineError(f"the OTF2 library failed: {text.decode()}")
