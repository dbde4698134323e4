/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace format: the only declaration of it. docs/trace_format.md says how the
 * pieces stand in a file. Between the two markers stands plain C that cffi reads too.
 * Numbers are never reused; a change that an old reader cannot skip raises
 * SKELGEN_FORMAT_VERSION.
 */
#ifndef SKELGEN_RECORD_H
#define SKELGEN_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* The eight bytes at the start of a file. */
#define SKELGEN_MAGIC "\x89SKT\r\n\x1a\n"

/* skelgen format begin */

#define SKELGEN_FORMAT_VERSION 1
#define SKELGEN_ENDIAN_CHECK 0x01020304

struct skelgen_header {
	uint8_t magic[8];      /* 0x89 'S' 'K' 'T' '\r' '\n' 0x1a '\n' */
	uint32_t version;      /* SKELGEN_FORMAT_VERSION */
	uint32_t endian;       /* SKELGEN_ENDIAN_CHECK, in the writer's byte order */
	uint32_t header_bytes; /* offset of the first record [bytes] */
	uint32_t clock_kind;   /* enum skelgen_clock */
	uint32_t unit_shift;   /* one time unit is 2^unit_shift clock ticks */
	uint32_t mpi_family;   /* enum skelgen_mpi_family */
	uint64_t run_id;       /* equal in all files of one run; never 0 */
	int32_t world_rank;    /* rank in MPI_COMM_WORLD */
	int32_t world_size;    /* size of MPI_COMM_WORLD */
	int32_t thread;        /* 0: the thread that called MPI_Init */
	int32_t thread_level;  /* granted: 0 single .. 3 multiple */
	uint64_t ticks_per_s;  /* nominal clock frequency [1/s]; the clock records tell better */
	uint64_t start_ticks;  /* clock origin of the stream [ticks] */
	int64_t start_realtime_ns; /* wall clock at start_ticks [ns since 1970] */
	uint32_t pid;              /* process id */
	uint32_t mpi_standard;     /* version of the MPI standard: 100 x major + minor */
	uint8_t host[64];          /* host name, padded with zeros */
	uint8_t boot_id[64];       /* names one boot of one machine: equal means common clock */
	uint8_t mpi_library[256];  /* first line of MPI_Get_library_version */
	uint8_t program[256];      /* path of the executable */
};

enum skelgen_clock {
	SKELGEN_CLOCK_TSC = 1,       /* x86 time stamp counter */
	SKELGEN_CLOCK_MONOTONIC = 2, /* clock_gettime(CLOCK_MONOTONIC) [ns] */
};

enum skelgen_mpi_family {
	SKELGEN_MPI_OTHER = 0,
	SKELGEN_MPI_MPICH = 1,
	SKELGEN_MPI_OPENMPI = 2,
};

/* First byte of a record. */
enum skelgen_record_tag {
	SKELGEN_REC_NONE = 0, /* end of the data */
	SKELGEN_REC_FUNCTION = 1,
	SKELGEN_REC_MODULE = 2,
	SKELGEN_REC_SITE = 3,
	SKELGEN_REC_COMM = 4,
	SKELGEN_REC_TYPE = 5,
	SKELGEN_REC_LIST = 6,
	SKELGEN_REC_VECTOR = 7,
	SKELGEN_REC_SHAPE = 8,
	SKELGEN_REC_CLOCK = 9,
	SKELGEN_REC_OFFSET = 10,
	SKELGEN_REC_COUNT = 11,
	SKELGEN_REC_NOTE = 12,
	SKELGEN_REC_END = 13,
	SKELGEN_REC_WINDOW = 14,
	SKELGEN_REC_FILE = 15,
	SKELGEN_REC_USAGE = 16,
	SKELGEN_REC_UNSEEN = 18,
	SKELGEN_REC_LOAD = 20,
	SKELGEN_REC_QUEUED = 21,
	SKELGEN_REC_TOUCHED = 22,
	SKELGEN_REC_CHECK = 0x40, /* of the file, not of the run: its checksums */
	SKELGEN_REC_EVENT = 0x80, /* bit: this is an event, the other bits are: */
};

/*
 * Bytes of a CHECK record, its tag included, whose `following` is below 128: tag, length,
 * following, CRC32C (Castagnoli).
 */
#define SKELGEN_CHECK_BYTES 7
#define SKELGEN_CRC_BYTES 4

/* The other bits of an event's first byte. */
enum skelgen_event_bits {
	SKELGEN_EVENT_SHAPE = 0x40,     /* the shape is not the predicted one: its id follows */
	SKELGEN_EVENT_COUNT = 0x20,     /* a count is not the predicted one: deltas follow */
	SKELGEN_EVENT_EXTRAS = 0x10,    /* extras follow */
	SKELGEN_EVENT_GAP_BYTES = 0x0c, /* (bytes of the gap - 1) << 2 */
	SKELGEN_EVENT_DURATION_BYTES = 0x03, /* bytes of the duration - 1 */
};

/* Bits of the extras word of an event; the fields follow in this order. */
enum skelgen_extras {
	SKELGEN_EXTRA_LONG = 0x01,     /* high parts of gap and duration */
	SKELGEN_EXTRA_OVERHEAD = 0x02, /* part of the gap spent in the recorder [units] */
	SKELGEN_EXTRA_LOST = 0x04, /* time before the event in which the thread did not run [us] */
	SKELGEN_EXTRA_VALUES = 0x10,   /* new values of what varies in the shape */
	SKELGEN_EXTRA_VECTORS = 0x20,  /* new count vectors */
	SKELGEN_EXTRA_STATUS = 0x40,   /* source and tag of completed wildcard receives */
	SKELGEN_EXTRA_REPEAT = 0x80,   /* several failed polls in one record */
	SKELGEN_EXTRA_OBJECT = 0x100,  /* id of the communicator that the call created */
	SKELGEN_EXTRA_ERROR = 0x200,   /* error class that the call returned */
	SKELGEN_EXTRA_FOREIGN = 0x400, /* completed requests that another thread created */
};

/* Flags of a shape. */
enum skelgen_shape_flags {
	SKELGEN_SHAPE_HAS_A = 0x01,         /* has count_a: send side */
	SKELGEN_SHAPE_HAS_B = 0x02,         /* has count_b: receive side */
	SKELGEN_SHAPE_VECTOR_A = 0x04,      /* the send side has a count for each rank */
	SKELGEN_SHAPE_VECTOR_B = 0x08,      /* the receive side has a count for each rank */
	SKELGEN_SHAPE_WILD_SOURCE = 0x10,   /* the program passed MPI_ANY_SOURCE */
	SKELGEN_SHAPE_WILD_TAG = 0x20,      /* the program passed MPI_ANY_TAG */
	SKELGEN_SHAPE_IN_PLACE = 0x40,      /* the program passed MPI_IN_PLACE */
	SKELGEN_SHAPE_CREATES = 0x80,       /* each call creates a request */
	SKELGEN_SHAPE_PERSISTENT = 0x100,   /* each call creates a persistent request */
	SKELGEN_SHAPE_STARTS = 0x200,       /* each element of the list creates a request */
	SKELGEN_SHAPE_COMPLETES = 0x400,    /* the list's requests are completed */
	SKELGEN_SHAPE_NOT_READY = 0x800,    /* a poll that found nothing */
	SKELGEN_SHAPE_FAILED = 0x1000,      /* the call returned an error */
	SKELGEN_SHAPE_VARIES_PEER = 0x2000, /* peer changes from event to event */
	SKELGEN_SHAPE_VARIES_TAG = 0x4000,  /* tag changes from event to event */
	SKELGEN_SHAPE_VARIES_PEER2 = 0x8000,
	SKELGEN_SHAPE_VARIES_TAG2 = 0x10000,
	SKELGEN_SHAPE_VARIES_LIST = 0x20000, /* requests change from event to event */
	SKELGEN_SHAPE_RELEASES = 0x40000,    /* Request_free: the list's requests are gone */
	SKELGEN_SHAPE_OBJECT = 0x80000,      /* comm is the id of a window or a file */
	SKELGEN_SHAPE_HOLES = 0x100000,      /* bytes of a vector do not lie in one piece */
};

/* With SKELGEN_SHAPE_HOLES: log2 of the mean size of the pieces [bytes], from this bit on. */
#define SKELGEN_PIECE_SHIFT 24
#define SKELGEN_PIECE_MASK 0x1F

/* Special values of peers and tags. */
#define SKELGEN_NO_PEER (-1)
#define SKELGEN_PROC_NULL (-2)
#define SKELGEN_ANY_SOURCE (-3)
#define SKELGEN_ROOT (-4)
#define SKELGEN_CANCELLED (-5)
#define SKELGEN_NO_TAG (-1)
#define SKELGEN_ANY_TAG (-2)

/* Lowest two bits of a request reference; the rest is the value. */
enum skelgen_reference {
	SKELGEN_REF_NONE = 0,       /* whole reference is 0 */
	SKELGEN_REF_AGE = 1,        /* one request, by its age */
	SKELGEN_REF_LIST = 2,       /* a list, by its id */
	SKELGEN_REF_PERSISTENT = 3, /* one persistent request, by its number */
};

/* Entries of each of the two tables that predict the next shape. */
#define SKELGEN_PREDICTIONS 4096
#define SKELGEN_CONTEXT_SHIFT 4
#define SKELGEN_CONTEXT_FACTOR 0x9e3779b1
/* Pairs of counts that each shape remembers. */
#define SKELGEN_COUNT_HISTORY 8

/* The recorder asks for the CPU time, and looks at memory, behind longer gaps only [ns]. */
#define SKELGEN_LONG_GAP_NS 50000

/* Lengths of gaps between queries of the CPU time that are told apart (USAGE). */
#define SKELGEN_QUERY_GAPS 16

/* What a function does. */
enum skelgen_function_kind {
	SKELGEN_FN_LOCAL = 0, /* no communication; counted, not recorded */
	SKELGEN_FN_INIT = 1,
	SKELGEN_FN_FINALIZE = 2,
	SKELGEN_FN_SEND = 3,
	SKELGEN_FN_RECEIVE = 4,
	SKELGEN_FN_SENDRECV = 5,
	SKELGEN_FN_ISEND = 6,
	SKELGEN_FN_IRECEIVE = 7,
	SKELGEN_FN_SEND_INIT = 8,
	SKELGEN_FN_RECEIVE_INIT = 9,
	SKELGEN_FN_START = 10,
	SKELGEN_FN_COMPLETE = 11,
	SKELGEN_FN_PROBE = 12,
	SKELGEN_FN_COLLECTIVE = 13,
	SKELGEN_FN_ICOLLECTIVE = 14,
	SKELGEN_FN_COLLECTIVE_INIT = 15,
	SKELGEN_FN_COMMUNICATOR = 16, /* creates or frees a communicator */
	SKELGEN_FN_RELEASE = 17,      /* Request_free, Cancel */
	SKELGEN_FN_CONTROL = 18,      /* Pcontrol, Abort */
	SKELGEN_FN_OTHER = 19,        /* communicates; counted, not recorded */
	SKELGEN_FN_WINDOW = 20,       /* makes or frees a window */
	SKELGEN_FN_RMA = 21,          /* moves data between ranks of a window */
	SKELGEN_FN_SYNC = 22,         /* begins, ends or completes epochs of a window */
	SKELGEN_FN_FILE = 23,         /* opens or closes a file */
	SKELGEN_FN_IO = 24,           /* reads, writes or changes a file */
};

enum skelgen_comm_kind {
	SKELGEN_COMM_WORLD = 0,
	SKELGEN_COMM_SELF = 1,
	SKELGEN_COMM_DUP = 2,
	SKELGEN_COMM_SPLIT = 3,
	SKELGEN_COMM_SPLIT_TYPE = 4,
	SKELGEN_COMM_CREATE = 5,
	SKELGEN_COMM_CREATE_GROUP = 6,
	SKELGEN_COMM_CART = 7,
	SKELGEN_COMM_CART_SUB = 8,
	SKELGEN_COMM_GRAPH = 9,
	SKELGEN_COMM_DIST_GRAPH = 10,
	SKELGEN_COMM_INTER = 11,   /* Intercomm_create */
	SKELGEN_COMM_MERGE = 12,   /* Intercomm_merge */
	SKELGEN_COMM_PARENT = 13,  /* Comm_get_parent */
	SKELGEN_COMM_UNKNOWN = 14, /* made by a call that is not wrapped */
	/* Windows and files have a group and a sequence of collective calls as well. */
	SKELGEN_COMM_WIN_CREATE = 15,
	SKELGEN_COMM_WIN_ALLOCATE = 16,
	SKELGEN_COMM_WIN_SHARED = 17, /* Win_allocate_shared */
	SKELGEN_COMM_WIN_DYNAMIC = 18,
	SKELGEN_COMM_FILE = 19,
};

/* Tag of Win_fence: what the program asserts. */
enum skelgen_assertion {
	SKELGEN_ASSERT_NOSTORE = 0x01,
	SKELGEN_ASSERT_NOPUT = 0x02,
	SKELGEN_ASSERT_NOPRECEDE = 0x04,
	SKELGEN_ASSERT_NOSUCCEED = 0x08,
};

/* Tag of Win_lock. */
enum skelgen_lock {
	SKELGEN_LOCK_EXCLUSIVE = 1,
	SKELGEN_LOCK_SHARED = 2,
};

/* How a file was opened. */
enum skelgen_access {
	SKELGEN_MODE_RDONLY = 0x01,
	SKELGEN_MODE_RDWR = 0x02,
	SKELGEN_MODE_WRONLY = 0x04,
	SKELGEN_MODE_CREATE = 0x08,
	SKELGEN_MODE_EXCL = 0x10,
	SKELGEN_MODE_DELETE_ON_CLOSE = 0x20,
	SKELGEN_MODE_UNIQUE_OPEN = 0x40,
	SKELGEN_MODE_SEQUENTIAL = 0x80,
	SKELGEN_MODE_APPEND = 0x100,
};

/* Reduction operations; 0 is none. */
enum skelgen_op {
	SKELGEN_OP_NONE = 0,
	SKELGEN_OP_MAX = 1,
	SKELGEN_OP_MIN = 2,
	SKELGEN_OP_SUM = 3,
	SKELGEN_OP_PROD = 4,
	SKELGEN_OP_LAND = 5,
	SKELGEN_OP_BAND = 6,
	SKELGEN_OP_LOR = 7,
	SKELGEN_OP_BOR = 8,
	SKELGEN_OP_LXOR = 9,
	SKELGEN_OP_BXOR = 10,
	SKELGEN_OP_MINLOC = 11,
	SKELGEN_OP_MAXLOC = 12,
	SKELGEN_OP_REPLACE = 13,
	SKELGEN_OP_NO_OP = 14,
	SKELGEN_OP_USER = 15, /* defined by the program, commutative */
	SKELGEN_OP_USER_NONCOMMUTATIVE = 16,
};

/* How a datatype was built. */
enum skelgen_combiner {
	SKELGEN_TYPE_NAMED = 0,
	SKELGEN_TYPE_DUP = 1,
	SKELGEN_TYPE_CONTIGUOUS = 2,
	SKELGEN_TYPE_VECTOR = 3,
	SKELGEN_TYPE_HVECTOR = 4,
	SKELGEN_TYPE_INDEXED = 5,
	SKELGEN_TYPE_HINDEXED = 6,
	SKELGEN_TYPE_INDEXED_BLOCK = 7,
	SKELGEN_TYPE_HINDEXED_BLOCK = 8,
	SKELGEN_TYPE_STRUCT = 9,
	SKELGEN_TYPE_SUBARRAY = 10,
	SKELGEN_TYPE_DARRAY = 11,
	SKELGEN_TYPE_RESIZED = 12,
	SKELGEN_TYPE_OTHER = 13,
};

/* What a LOAD record knows. */
enum skelgen_load_known {
	SKELGEN_LOAD_QUEUE = 0x01,    /* for how long the thread stood in the run queue */
	SKELGEN_LOAD_PRESSURE = 0x02, /* CPU pressure of the machine */
	SKELGEN_LOAD_CORES = 0x04,    /* which cores the thread may use */
};

enum skelgen_clock_place {
	SKELGEN_AT_INIT = 0,
	SKELGEN_AT_FINALIZE = 1,
	SKELGEN_AT_OTHER = 2,
};

/* Why a file ends. */
enum skelgen_end {
	SKELGEN_END_FINALIZE = 0, /* MPI_Finalize returned */
	SKELGEN_END_ABORT = 1,    /* the program called MPI_Abort */
	SKELGEN_END_EXIT = 2,     /* the program ended without MPI_Finalize */
	SKELGEN_END_FULL = 3,     /* no more space; the program ran on unrecorded */
	SKELGEN_END_LIMIT = 4,    /* SKELGEN_MAX_BYTES was reached */
	SKELGEN_END_THREAD = 5,   /* the thread ended */
};

/* skelgen format end */

_Static_assert(sizeof(struct skelgen_header) == 728, "header size is part of the format");
_Static_assert(offsetof(struct skelgen_header, run_id) == 32, "no hidden padding");
_Static_assert(offsetof(struct skelgen_header, ticks_per_s) == 56, "no hidden padding");
_Static_assert(offsetof(struct skelgen_header, host) == 88, "no hidden padding");

#endif
