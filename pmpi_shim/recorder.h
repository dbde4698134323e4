/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the recorder's parts share. A wrapper (build/wrappers.c, generated) takes the time,
 * calls the real function and hands a struct skelgen_call to skelgen_event(), which is inline
 * and writes the record when the call is the predicted one (fast.h). The rest is slow paths:
 *
 *   event.c     events out of the ordinary, failed polls, CPU time samples
 *   shape.c     shapes, lists of requests, vectors of counts
 *   site.c      call sites and what called them
 *   object.c    communicators, datatypes, operations, matched messages
 *   topology.c  grids and neighbours of communicators
 *   request.c   from request handles to request numbers
 *   buffer.c    the file and its mapped window
 *   folder.c    where files stand, and how they get there
 *   cost.c      what recording costs
 *   clock.c     clocks and the offsets between hosts
 *   stream.c    the streams of threads, their headers and ends
 *   lifecycle.c Init, Finalize, Abort, Pcontrol, fork
 *   session.c   programs without MPI_Init
 *   phase.c     runs that are measured, phase by phase, instead of recorded
 *   settings.c  what the user set and what the user is told
 *   real.c      the functions of the MPI library
 *   fortran.c   the same in Fortran, and Fortran's constants
 */
#ifndef SKELGEN_RECORDER_H
#define SKELGEN_RECORDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

#include "map.h"
#include "skelgen_record.h"

/*
 * The addresses of Open MPI's predefined objects are symbols of its library. The shim is loaded
 * into programs without MPI too, so it looks them up when MPI is there (see object.c).
 */
#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)skelgen_symbol(#global))
#endif

#if defined(OPEN_MPI)
#define SKELGEN_FAMILY SKELGEN_MPI_OPENMPI
#elif defined(MPICH_NAME) || defined(MPICH)
#define SKELGEN_FAMILY SKELGEN_MPI_MPICH
#else
#define SKELGEN_FAMILY SKELGEN_MPI_OTHER
#endif

#define SKELGEN_EXPORT __attribute__((visibility("default")))
#define SKELGEN_COLD __attribute__((noinline, cold))
#define SKELGEN_INLINE static inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * A handle passed by value, as wide as a register: handles are ints in one library and pointers
 * in another, and a shim for the wrong one must still pass them on unharmed.
 */
typedef long skelgen_word;

/* A call as the wrapper saw it: handles as MPI has them, not yet our ids. */
struct skelgen_call {
	uint64_t site;
	uint64_t comm;
	uint64_t type_a;
	uint64_t type_b;
	uint64_t op;
	uint64_t reference;
	uint32_t function;
	uint32_t flags;
	int32_t peer;
	int32_t tag;
	int32_t peer2;
	int32_t tag2;
	int64_t count_a;
	int64_t count_b;
	uint32_t vector_a;
	uint32_t vector_b;
};

/* The first 64 bytes are all that most events look at. */
struct skelgen_shape {
	uint64_t site;
	uint64_t comm;
	uint64_t type_a;
	uint64_t reference;
	union {
		struct {
			uint32_t function; /* UINT32_MAX: one of its handles was freed */
			uint32_t flags;
		};
		uint64_t kind; /* both */
	};
	int32_t peer;
	int32_t tag;
	int64_t count_a; /* predicted */
	uint32_t id;
	uint8_t lag;
	uint8_t turning; /* 0: the eight last pairs of counts are equal */

	uint64_t type_b;
	uint64_t op;
	int32_t peer2;
	int32_t tag2;
	int64_t count_b; /* predicted */
	struct skelgen_counts {
		int64_t a;
		int64_t b;
	} history[SKELGEN_COUNT_HISTORY];
	uint32_t newest; /* index into history */
	uint32_t varies; /* SKELGEN_SHAPE_VARIES_* */
	uint32_t vector_a;
	uint32_t vector_b;
	uint64_t content; /* hash of the definition, to find it again */
	int32_t comm_id;
	uint32_t type_a_id;
	uint32_t type_b_id;
	uint32_t op_code;
};

/* Which fields of a call a function has; the others are zero in all its calls. */
enum skelgen_uses {
	SKELGEN_USES_COMM = 0x01,
	SKELGEN_USES_A = 0x02,
	SKELGEN_USES_B = 0x04,
	SKELGEN_USES_PEER = 0x08,
	SKELGEN_USES_PEER2 = 0x10,
	SKELGEN_USES_OP = 0x20,
	SKELGEN_USES_REFERENCE = 0x40,
	SKELGEN_USES_COUNT_A = 0x80, /* a count without a type */
};

/* What followed when the last eight shapes were those of the context. */
struct skelgen_prediction {
	uint32_t context;
	struct skelgen_shape *shape;
};

/* Gaps and durations beyond it need more bytes than a record has for them [units]. */
#define SKELGEN_LONGEST UINT32_MAX

/* So many statuses fit behind any event of the fast path. */
#define SKELGEN_FEW_STATUSES 8

/* Why an event is not written by the fast path. */
enum skelgen_special {
	SKELGEN_SPECIAL_OVERHEAD = 0x01,
	SKELGEN_SPECIAL_LOST = 0x02,
	SKELGEN_SPECIAL_POLL = 0x04,
	SKELGEN_SPECIAL_LONG = 0x08, /* the gap before it */
	SKELGEN_SPECIAL_STATUS = 0x10,
	SKELGEN_SPECIAL_OBJECT = 0x20,
	SKELGEN_SPECIAL_ERROR = 0x40,
	SKELGEN_SPECIAL_FOREIGN = 0x80,
	SKELGEN_SPECIAL_STOPPED = 0x100,
	SKELGEN_SPECIAL_STACK = 0x200,    /* for good: the call site is more than an address */
	SKELGEN_SPECIAL_STATUSES = 0x400, /* more than SKELGEN_FEW_STATUSES */
};

struct skelgen_status_entry {
	uint32_t position;
	int32_t source;
	int32_t tag;
};

struct skelgen_foreign {
	uint32_t thread;
	uint64_t number;
};

/* So many of the latest requests stand where their numbers say. */
#define SKELGEN_RECENT 64

/* The requests that one thread made and that are not complete (request.c). */
struct skelgen_requests {
	struct {
		uint64_t handle;
		uint64_t made;    /* when [units] */
	} recent[SKELGEN_RECENT]; /* by number, modulo */
	uint64_t live;            /* bits: which of them are not complete */
	uint64_t watched;         /* bits: of these the status is wanted */
	struct skelgen_queue *queues;
	size_t queue_room; /* power of two */
	size_t queues_used;
	struct skelgen_request *more; /* further ones with the handle of a queue */
	uint32_t room;                /* for those */
	uint32_t free;                /* first of the free ones of them */
	bool busy;                    /* its own thread is at it */
	bool shared;                  /* other threads have been: only who has it locked may */
	bool locked;
};

/* A run of failed polls that is not written yet. */
struct skelgen_poll {
	struct skelgen_call call;
	uint64_t previous_end;
	uint64_t begin;
	uint64_t end;
	uint64_t inside;
	uint64_t count;
	uint64_t overhead;
	uint64_t lost_us;
};

#define KNOWN_LISTS 64

/* What the slow paths of one stream have interned. */
struct skelgen_interned {
	struct skelgen_map shapes;   /* hash of the call -> struct skelgen_shape */
	struct skelgen_map contents; /* hash of the definition -> struct skelgen_shape */
	struct skelgen_map bases;    /* hash without peer, tag, requests -> number of shapes */
	struct skelgen_map lists;    /* hash -> offset in `words` */
	struct skelgen_map vectors;  /* the same for vectors */
	struct skelgen_map sites;    /* return address -> site id */
	struct skelgen_map modules;  /* load address -> module id */
	struct skelgen_map objects;  /* kind and id -> 1: has its definition in this file */
	struct skelgen_shape **slabs;
	size_t shape_count;
	size_t slab_count;
	size_t slab_room;
	struct skelgen_known_list {
		uint64_t reference;
		const int64_t *entry; /* in `words`; NULL: none */
	} known_lists[KNOWN_LISTS];   /* by id, the latest */
	int64_t *words;               /* contents of lists and vectors */
	size_t words_used;
	size_t words_room;
	uint32_t next_shape;
	uint32_t next_list;
	uint32_t next_vector;
	uint32_t next_site;
	uint32_t next_module;
};

/* Room for rank-000000.t000.skt, whatever the numbers. */
#define SKELGEN_NAME_BYTES 64

/* One file: what one thread of this rank does. */
struct skelgen_stream {
	/* fast path */
	struct skelgen_shape *predicted;
	struct skelgen_shape **slot;
	struct skelgen_prediction *long_slot;
	uint8_t *write;
	uint8_t *limit;
	uint64_t last_end; /* end of the previous event [units] */
	uint64_t special;  /* enum skelgen_special */
	uint64_t events;
	uint64_t requests;
	uint32_t context;
	uint32_t last;
	struct skelgen_shape **predictions;
	struct skelgen_prediction *long_predictions;
	bool stopped;
	struct skelgen_requests made;

	/* one event's extras */
	uint64_t overhead; /* spent by the recorder since last_end [units] */
	uint64_t lost_us;  /* between the last two samples of CPU time [us] */
	uint64_t sample_cpu_ns;
	uint64_t sample_ticks;
	uint64_t sample_switches;
	uint32_t object;
	uint32_t error;
	struct skelgen_status_entry *statuses;
	size_t status_count;
	size_t status_room;
	struct skelgen_foreign *foreign;
	size_t foreign_count;
	size_t foreign_room;
	struct skelgen_poll poll;

	/* scratch of completions and vectors */
	uint64_t *held;
	size_t held_room;
	MPI_Status *own_statuses;
	size_t own_statuses_room;
	int64_t *ages;
	size_t age_count;
	size_t ages_room;

	/* file */
	int file;
	int thread;
	uint8_t *window;
	size_t window_bytes;
	uint64_t window_offset;
	uint64_t persistent;
	uint64_t unrecorded;
	struct skelgen_interned interned;
	bool over; /* its thread has ended */
	struct skelgen_stream *next;
	uint64_t file_bytes; /* length of the file */
	char name[SKELGEN_NAME_BYTES];
	char path[4096]; /* where it is being written; empty once it is delivered */
};

/* The state of the process; written at Init, read everywhere. */
struct skelgen_process {
	bool use_tsc;
	bool multiple;    /* MPI_THREAD_MULTIPLE was granted: shared tables need the lock */
	bool recording;   /* between Init and Finalize, and nothing went wrong */
	bool taking_part; /* between Init and Finalize: also in what all ranks do together */
	bool world_model; /* MPI_Init, not sessions: all ranks may communicate at the end */
	bool over_ucx;    /* MPICH, its messages by UCX */
	unsigned shift;
	_Atomic uint64_t paused; /* by MPI_Pcontrol(0), of any thread */
	uint64_t long_gap;       /* CPU time is sampled beyond this [units]; at most LONGEST */
	uint64_t polling_gap;    /* failed polls farther apart are separate records [units] */
	uint64_t ticks_per_s;
	uint64_t run_id;
	uint64_t cost_ps;       /* of an event, in the gap beside it */
	uint64_t inside_ps;     /* and in its own duration */
	uint64_t request_ps;    /* what making or completing a request adds */
	uint64_t max_run_bytes; /* for all ranks; 0: no limit */
	uint64_t max_bytes;     /* for this rank */
	uint64_t used_bytes;    /* length of all files of this rank */
	unsigned callstack;     /* frames that tell a call site */
	bool prefer_monotonic;
	bool sampling; /* of CPU time */
	int rank;
	int size;
	int level;
	int threads; /* that have or had a stream, beside the one that called MPI_Init */
	pid_t pid;
	pthread_mutex_t lock;
	struct skelgen_stream *streams;
	char directory[2048];
	char local[2048];  /* folder on the node where files are written first; or empty */
	char phases[2048]; /* folder with the marks of phases to be measured; or empty */
};

extern struct skelgen_process skelgen;
extern __thread struct skelgen_stream *skelgen_current __attribute__((tls_model("initial-exec")));
extern const struct skelgen_shape skelgen_no_shape;
extern uint64_t skelgen_watched; /* outstanding requests whose status we want to see */

/* build/wrappers.c: what is in the table */
struct skelgen_function {
	uint32_t id;
	uint32_t kind;
	const char *name;
};
extern const struct skelgen_function skelgen_functions[];
extern uint64_t skelgen_passed[];       /* calls passed on, in the order of the table */
extern uint64_t skelgen_passed_units[]; /* time inside those that communicate */
extern const size_t skelgen_function_count;

/* real.c */
/* clang-format off */
#define SKELGEN_PMPI(X) \
	X(Abort) X(Allgather) X(Allreduce) X(Barrier) X(Bcast) X(Cart_get) X(Cart_shift) X(Cartdim_get) X(Comm_dup) \
	X(Comm_free) X(Comm_get_parent) X(Comm_group) X(Comm_rank) X(Comm_remote_group) \
	X(Comm_size) X(Comm_split) X(Comm_split_type) X(Comm_test_inter) X(Dist_graph_neighbors) \
	X(Dist_graph_neighbors_count) X(Error_class) X(Finalize) X(Get_library_version) X(Get_version) \
	X(Graph_neighbors) X(Graph_neighbors_count) X(Group_free) X(Group_rank) \
	X(Group_size) X(Group_translate_ranks) X(Op_commutative) X(Query_thread) X(Recv) X(Reduce) X(Send) X(Test_cancelled) \
	X(Topo_test) X(Type_get_envelope) X(Type_get_extent) X(Type_get_name) \
	X(Type_get_true_extent) X(Type_size_x) X(Win_get_group)
/*
 * From Fortran's handles to C's: macros where handles are the same numbers in both languages. The
 * binary interface of MPI 5 knows of integers only.
 */
#define SKELGEN_WITH_FORTRAN(X, suffix) \
	X(Comm##suffix) X(Group##suffix) X(Info##suffix) X(Message##suffix) X(Op##suffix) \
	X(Request##suffix) X(Type##suffix) X(Win##suffix)
#if defined(MPI_ABI_VERSION)
typedef int MPI_Fint;
#define SKELGEN_PMPI_F2C(X) SKELGEN_WITH_FORTRAN(X, _fromint) X(File_fromint)
#define skelgen_f2c(kind, handle) pmpi.kind##_fromint(*(const MPI_Fint *)(handle))
#define skelgen_file_f2c(handle) skelgen_f2c(File, handle)
#else
#if defined(MPI_Comm_f2c)
#define SKELGEN_PMPI_F2C(X) X(File_f2c)
#define skelgen_f2c(kind, handle) MPI_##kind##_f2c(*(const MPI_Fint *)(handle))
#else
#define SKELGEN_PMPI_F2C(X) SKELGEN_WITH_FORTRAN(X, _f2c) X(File_f2c)
#define skelgen_f2c(kind, handle) pmpi.kind##_f2c(*(const MPI_Fint *)(handle))
#endif
/* A pointer in every library. */
#define skelgen_file_f2c(handle) pmpi.File_f2c(*(const MPI_Fint *)(handle))
#endif
/* clang-format on */
#define SKELGEN_PMPI_FIELD(name) __typeof__(&PMPI_##name) name;
extern struct skelgen_pmpi {
	SKELGEN_PMPI(SKELGEN_PMPI_FIELD) SKELGEN_PMPI_F2C(SKELGEN_PMPI_FIELD)
} pmpi;
extern const char skelgen_library[];           /* generated: path of the MPI library */
extern const char *const skelgen_real_names[]; /* generated, ends with NULL */
extern void *const skelgen_real_table;         /* generated: pointers in the same order */
extern bool skelgen_resolved;
void skelgen_resolve(void);
void *skelgen_symbol(const char *name);
const char *skelgen_library_path(void);

/* MPI's constants; in Open MPI they are addresses known only at run time. */
extern struct skelgen_constants {
	MPI_Comm comm_null;
	MPI_Comm comm_world;
	MPI_Comm comm_self;
	MPI_Request request_null;
	MPI_Datatype datatype_null;
} mpi;

/* phase.c */
extern bool skelgen_measuring;
void skelgen_phase_begin(struct skelgen_stream *s);
struct skelgen_stream *skelgen_phase_enter(uint32_t function);
void skelgen_phase_leave(void);
void skelgen_phase_end(bool finalizing);

/* settings.c */
#define SKELGEN_MOST_FRAMES 64
void skelgen_read_settings(void);
void skelgen_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *skelgen_reason(int error);

/* folder.c */
void skelgen_folder_use(uint64_t world);
uint64_t skelgen_folder_take(int *error);
void skelgen_folder_leave(void);
const char *skelgen_folder(void);
void skelgen_folder_name(struct skelgen_stream *s);
void skelgen_folder_deliver(struct skelgen_stream *s);
void skelgen_folder_remark(struct skelgen_stream *s);

/* lifecycle.c */
struct skelgen_stream *skelgen_begin_slow(uint32_t function);
SKELGEN_INLINE void skelgen_lock(void)
{
	if (unlikely(skelgen.multiple))
		pthread_mutex_lock(&skelgen.lock);
}
SKELGEN_INLINE void skelgen_unlock(void)
{
	if (unlikely(skelgen.multiple))
		pthread_mutex_unlock(&skelgen.lock);
}

/* stream.c */
uint64_t skelgen_host(void);
bool skelgen_right_library(void);
void skelgen_header_fill(uint64_t start_ticks, int64_t start_realtime_ns);
struct skelgen_stream *skelgen_stream_new(int thread);
void skelgen_stream_free(struct skelgen_stream *s);
void skelgen_stream_begin(struct skelgen_stream *s, uint64_t ticks, uint64_t cpu_ns);
void skelgen_stream_end(struct skelgen_stream *s, enum skelgen_end reason, int code);
struct skelgen_stream *skelgen_stream_of_thread(void);

/* buffer.c */
bool skelgen_size_allowed(uint64_t bytes);
bool skelgen_file_create(struct skelgen_stream *s);
void skelgen_file_begin(struct skelgen_stream *s, const struct skelgen_header *header);
bool skelgen_reserve(struct skelgen_stream *s, size_t bytes);
void skelgen_grow(struct skelgen_stream *s);
void skelgen_define(struct skelgen_stream *s, enum skelgen_record_tag tag, const uint8_t *payload,
		    size_t bytes);
void skelgen_file_end(struct skelgen_stream *s, enum skelgen_end reason, int code);
bool skelgen_room(void **array, size_t *room, size_t wanted, size_t element);

/* clock.c */
uint64_t skelgen_monotonic_ns(void);
uint64_t skelgen_thread_cpu_ns(void);
uint64_t skelgen_thread_switches(void);
void skelgen_clock_choose(void);
void skelgen_clock_calibrate(uint64_t ticks0, uint64_t ns0, uint64_t ticks1, uint64_t ns1);
void skelgen_clock_record(struct skelgen_stream *s, enum skelgen_clock_place place);
bool skelgen_clock_prepare(int size);
void skelgen_clock_compare(bool several_hosts, uint64_t host);
void skelgen_clock_offsets(struct skelgen_stream *s, enum skelgen_clock_place place);
void skelgen_clock_release(void);

/* parting.c */
void skelgen_part(void);

/* cost.c */
void skelgen_measure_cost(void);

/* event.c */
void skelgen_event_general(struct skelgen_stream *s, const struct skelgen_call *call,
			   uint64_t begin, uint64_t end);
void skelgen_event_unforeseen(struct skelgen_stream *s, int code, const int64_t counts[2],
			      uint64_t reference, uint64_t begin, uint64_t end);
uint64_t skelgen_sample_begin(struct skelgen_stream *s, uint64_t begin);
void skelgen_flush_poll(struct skelgen_stream *s);
uint8_t *skelgen_status_extras(uint8_t *p, struct skelgen_stream *s);
uint32_t skelgen_failed(struct skelgen_stream *s, int code);
void skelgen_object(struct skelgen_stream *s, uint32_t id);

/* site.c */
void skelgen_site_prepare(void);
uint32_t skelgen_site_id(struct skelgen_stream *s, uint64_t site);
uint64_t skelgen_site_deepen(struct skelgen_stream *s, uint64_t site);

/* shape.c */
struct skelgen_shape *skelgen_shape_of(struct skelgen_stream *s, const struct skelgen_call *call);
void skelgen_count_miss(struct skelgen_shape *shape, int64_t a, int64_t b);
bool skelgen_interned_open(struct skelgen_interned *interned);
void skelgen_interned_close(struct skelgen_interned *interned);
uint64_t skelgen_list(struct skelgen_stream *s);
uint32_t skelgen_vector(struct skelgen_stream *s, int64_t *counts, size_t n);
void skelgen_define_function(struct skelgen_stream *s, uint32_t id);
bool skelgen_defined(struct skelgen_stream *s, enum skelgen_record_tag tag, uint32_t id);
void skelgen_forget(struct skelgen_stream *s, uint64_t handle);
const int64_t *skelgen_predicted_list(struct skelgen_stream *s, size_t *n);

/* topology.c */
struct skelgen_neighbours {
	int sources;
	int destinations;
	int *ranks; /* sources, then destinations; MPI_PROC_NULL beyond a border */
};
void skelgen_neighbours_find(MPI_Comm comm, int rank, struct skelgen_neighbours *around);
size_t skelgen_topology_bytes(const struct skelgen_neighbours *around);
uint8_t *skelgen_put_topology(uint8_t *p, MPI_Comm comm, const struct skelgen_neighbours *around);

/* object.c */
struct skelgen_comm {
	uint64_t handle;
	int32_t id;
	int rank;
	int size;  /* of the local group */
	int peers; /* size of the group that peers are ranks of */
	bool inter;
	struct skelgen_neighbours around;
	uint32_t sequence; /* collective creating calls so far */
	uint8_t *payload;  /* its definition */
	uint8_t *detail;   /* of a window or file: a further one */
	size_t detail_bytes;
	uint32_t detail_tag;
	size_t payload_bytes;
};
bool skelgen_objects_open(void);
void skelgen_objects_finalize(void);
void skelgen_objects_close(void);
struct skelgen_message {
	uint64_t comm;
	int32_t source;
	int32_t tag;
};
void skelgen_retire(uint64_t handle);
void skelgen_retired(struct skelgen_stream *s, bool freed);
struct skelgen_comm *skelgen_comm_find(MPI_Comm comm);
void skelgen_comm_created(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			  MPI_Comm created);
void skelgen_comm_promise(struct skelgen_stream *s, MPI_Comm parent, MPI_Comm *where);
void skelgen_comm_promise_fortran(struct skelgen_stream *s, MPI_Comm parent, const MPI_Fint *where);
void skelgen_comm_fulfil(uint64_t request);
void skelgen_comm_define(struct skelgen_stream *s, int32_t id);
struct skelgen_comm *skelgen_object_find(uint64_t handle);
void skelgen_object_made(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			 uint64_t handle, enum skelgen_record_tag tag, const uint8_t *detail,
			 size_t bytes);
void skelgen_handle_freed(uint64_t handle);
void skelgen_type_freed(MPI_Datatype type);
uint32_t skelgen_type_id(struct skelgen_stream *s, uint64_t handle, bool ask);
uint32_t skelgen_op_code(uint64_t handle);
void skelgen_message_made(MPI_Message message, MPI_Comm comm, int source, int tag);
struct skelgen_message skelgen_message_taken(MPI_Message message);

/* request.c */
enum skelgen_request_flags {
	SKELGEN_REQUEST_WATCHED = 1, /* its status holds what we do not know yet */
	SKELGEN_REQUEST_PERSISTENT = 2,
	SKELGEN_REQUEST_CANCELLED = 4,
	SKELGEN_REQUEST_PROMISE = 8, /* its completion makes a communicator */
};
SKELGEN_INLINE bool skelgen_watching(void)
{
	return __atomic_load_n(&skelgen_watched, __ATOMIC_RELAXED) != 0;
}
bool skelgen_requests_open(struct skelgen_requests *table);
bool skelgen_requests_none(struct skelgen_requests *table);
bool skelgen_requests_active(const struct skelgen_requests *table);
void skelgen_requests_close(struct skelgen_requests *table);
void skelgen_request_other(struct skelgen_stream *s, uint64_t handle, unsigned flags, uint64_t end);
void skelgen_hold(struct skelgen_stream *s, size_t n, const MPI_Request requests[]);
MPI_Status *skelgen_own_statuses(struct skelgen_stream *s, size_t n);
uint64_t skelgen_started(struct skelgen_stream *s, size_t n);
uint64_t skelgen_completed_all(struct skelgen_stream *s, size_t n, const MPI_Status statuses[]);
uint64_t skelgen_completed_some(struct skelgen_stream *s, size_t n, const int indices[], int first,
				const MPI_Status statuses[]);
uint64_t skelgen_completed_other(struct skelgen_stream *s, uint64_t handle,
				 const MPI_Status *status);
void skelgen_look(struct skelgen_stream *s, uint64_t bit, const MPI_Status *status);
uint64_t skelgen_released(struct skelgen_stream *s, uint64_t handle);
uint64_t skelgen_cancelled(struct skelgen_stream *s, uint64_t handle);

#include "fast.h"

#endif
