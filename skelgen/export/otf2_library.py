"""The OTF2 library (version 3), loaded when it is needed: skelgen needs none to run."""

from __future__ import annotations

import ctypes.util
from functools import cache
from typing import Any

from cffi import FFI

from skelgen.errors import MachineError

#: Debian renames the library; the number is that of OTF2 3.
_NAMES = ("libotf2.so.10", "libopen-trace-format2.so.10")

_DECLARATIONS = """
typedef struct OTF2_Archive OTF2_Archive;
typedef struct OTF2_EvtWriter OTF2_EvtWriter;
typedef struct OTF2_DefWriter OTF2_DefWriter;
typedef struct OTF2_GlobalDefWriter OTF2_GlobalDefWriter;
typedef struct {
	uint8_t (*pre)(void *, uint8_t, uint64_t, void *, bool);
	uint64_t (*post)(void *, uint8_t, uint64_t);
} OTF2_FlushCallbacks;
typedef struct {
	void *(*allocate)(void *, uint8_t, uint64_t, void **, uint64_t);
	void (*free_all)(void *, uint8_t, uint64_t, void **, bool);
} OTF2_MemoryCallbacks;

const char *OTF2_Error_GetDescription(int);
OTF2_Archive *OTF2_Archive_Open(const char *, const char *, uint8_t, uint64_t, uint64_t,
	uint8_t, uint8_t);
int OTF2_Archive_SetFlushCallbacks(OTF2_Archive *, const OTF2_FlushCallbacks *, void *);
int OTF2_Archive_SetMemoryCallbacks(OTF2_Archive *, const OTF2_MemoryCallbacks *,
	void *);
int OTF2_Archive_SetSerialCollectiveCallbacks(OTF2_Archive *);
int OTF2_Archive_SetCreator(OTF2_Archive *, const char *);
int OTF2_Archive_OpenEvtFiles(OTF2_Archive *);
int OTF2_Archive_CloseEvtFiles(OTF2_Archive *);
OTF2_EvtWriter *OTF2_Archive_GetEvtWriter(OTF2_Archive *, uint64_t);
int OTF2_Archive_CloseEvtWriter(OTF2_Archive *, OTF2_EvtWriter *);
int OTF2_Archive_OpenDefFiles(OTF2_Archive *);
OTF2_DefWriter *OTF2_Archive_GetDefWriter(OTF2_Archive *, uint64_t);
int OTF2_Archive_CloseDefWriter(OTF2_Archive *, OTF2_DefWriter *);
int OTF2_Archive_CloseDefFiles(OTF2_Archive *);
OTF2_GlobalDefWriter *OTF2_Archive_GetGlobalDefWriter(OTF2_Archive *);
int OTF2_Archive_CloseGlobalDefWriter(OTF2_Archive *, OTF2_GlobalDefWriter *);
int OTF2_Archive_Close(OTF2_Archive *);

int OTF2_EvtWriter_GetNumberOfEvents(OTF2_EvtWriter *, uint64_t *);
int OTF2_EvtWriter_Enter(OTF2_EvtWriter *, void *, uint64_t, uint32_t);
int OTF2_EvtWriter_Leave(OTF2_EvtWriter *, void *, uint64_t, uint32_t);
int OTF2_EvtWriter_MpiSend(OTF2_EvtWriter *, void *, uint64_t, uint32_t, uint32_t,
	uint32_t, uint64_t);
int OTF2_EvtWriter_MpiIsend(OTF2_EvtWriter *, void *, uint64_t, uint32_t, uint32_t,
	uint32_t, uint64_t, uint64_t);
int OTF2_EvtWriter_MpiIsendComplete(OTF2_EvtWriter *, void *, uint64_t, uint64_t);
int OTF2_EvtWriter_MpiIrecvRequest(OTF2_EvtWriter *, void *, uint64_t, uint64_t);
int OTF2_EvtWriter_MpiRecv(OTF2_EvtWriter *, void *, uint64_t, uint32_t, uint32_t,
	uint32_t, uint64_t);
int OTF2_EvtWriter_MpiIrecv(OTF2_EvtWriter *, void *, uint64_t, uint32_t, uint32_t,
	uint32_t, uint64_t, uint64_t);
int OTF2_EvtWriter_MpiCollectiveBegin(OTF2_EvtWriter *, void *, uint64_t);
int OTF2_EvtWriter_MpiCollectiveEnd(OTF2_EvtWriter *, void *, uint64_t, uint8_t,
	uint32_t, uint32_t, uint64_t, uint64_t);
int OTF2_EvtWriter_MpiRequestCancelled(OTF2_EvtWriter *, void *, uint64_t, uint64_t);
int OTF2_EvtWriter_NonBlockingCollectiveRequest(OTF2_EvtWriter *, void *, uint64_t,
	uint64_t);
int OTF2_EvtWriter_NonBlockingCollectiveComplete(OTF2_EvtWriter *, void *, uint64_t,
	uint8_t, uint32_t, uint32_t, uint64_t, uint64_t, uint64_t);

int OTF2_GlobalDefWriter_WriteClockProperties(OTF2_GlobalDefWriter *, uint64_t,
	uint64_t, uint64_t, uint64_t);
int OTF2_GlobalDefWriter_WriteString(OTF2_GlobalDefWriter *, uint32_t, const char *);
int OTF2_GlobalDefWriter_WriteParadigm(OTF2_GlobalDefWriter *, uint8_t, uint32_t,
	uint8_t);
int OTF2_GlobalDefWriter_WriteSystemTreeNode(OTF2_GlobalDefWriter *, uint32_t, uint32_t,
	uint32_t, uint32_t);
int OTF2_GlobalDefWriter_WriteLocationGroup(OTF2_GlobalDefWriter *, uint32_t, uint32_t,
	uint8_t, uint32_t, uint32_t);
int OTF2_GlobalDefWriter_WriteLocation(OTF2_GlobalDefWriter *, uint64_t, uint32_t,
	uint8_t, uint64_t, uint32_t);
int OTF2_GlobalDefWriter_WriteRegion(OTF2_GlobalDefWriter *, uint32_t, uint32_t,
	uint32_t, uint32_t, uint8_t, uint8_t, uint32_t, uint32_t, uint32_t, uint32_t);
int OTF2_GlobalDefWriter_WriteGroup(OTF2_GlobalDefWriter *, uint32_t, uint32_t, uint8_t,
	uint8_t, uint32_t, uint32_t, const uint64_t *);
int OTF2_GlobalDefWriter_WriteComm(OTF2_GlobalDefWriter *, uint32_t, uint32_t, uint32_t,
	uint32_t, uint32_t);
int OTF2_GlobalDefWriter_WriteInterComm(OTF2_GlobalDefWriter *, uint32_t, uint32_t,
	uint32_t, uint32_t, uint32_t, uint32_t);
"""

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


@cache
def interface() -> FFI:
    """Return the declarations of what is used of the library."""
    ffi = FFI()
    ffi.cdef(_DECLARATIONS)
    return ffi


@cache
def library() -> Any:
    """Load the library.

    Raises
    ------
    MachineError
        When it is missing.
    """
    for name in _NAMES:
        try:
            return interface().dlopen(name)
        except OSError:
            continue
    other = ctypes.util.find_library("otf2")
    found = f"only {other} was found" if other else "it was not found"
    raise MachineError(
        f"--format otf2 needs the OTF2 library, version 3 ({_NAMES[0]}), and {found}; "
        "install it (Debian: apt-get install libopen-trace-format2-10)"
    )


def check(result: int) -> None:
    """Turn an error of the library into ours."""
    if result:
        text = interface().string(library().OTF2_Error_GetDescription(result))
        assert isinstance(text, bytes)
        raise MachineError(f"the OTF2 library failed: {text.decode()}")
