/* SPDX-License-Identifier: BSD-3-Clause */
/* What the recorder knows: streams, the process. */
#ifndef SKELGEN_STATE_H
#define SKELGEN_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include <mpi.h>

#include "base/call.h"
#include "base/map.h"
#include "base/touched.h"
#include "skelgen_record.h"

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
	SKELGEN_SPECIAL_TAKEN = 0x800,    /* for a shape that is not all that was predicted */
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

/* The requests that one thread made and that are not complete (definitions/request_table.c). */
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
	struct skelgen_shape *shape;
	uint64_t previous_end;
	uint64_t begin;
	uint64_t end;
	uint64_t inside;
	uint64_t count;
	uint64_t overhead;
	uint64_t lost_us;
	uint64_t queued_us;
};

/* So many different polls can take turns and still be one record each. */
#define SKELGEN_POLLS_IN_TURN 4

#define KNOWN_LISTS 64

/* Places for the shapes of the latest calls (intern/shape.c). */
#define SKELGEN_LATEST 1024

/* Shapes stand in memory in pieces of so many. */
#define SKELGEN_SLAB 64

/* What the slow paths of one stream have interned. */
struct skelgen_interned {
	struct skelgen_map shapes;   /* hash of the call -> struct skelgen_shape */
	struct skelgen_map contents; /* hash of the definition -> struct skelgen_shape */
	struct skelgen_map bases;    /* hash without peer, tag, requests -> number of shapes */
	struct skelgen_map users;    /* handle -> the first of the shapes that have it */
	struct skelgen_map lists;    /* hash -> offset in `words` */
	struct skelgen_map vectors;  /* the same for vectors */
	struct skelgen_map sites;    /* return address -> site id */
	struct skelgen_map modules;  /* load address -> module id */
	struct skelgen_map objects;  /* kind and id -> 1: has its definition in this file */
	struct skelgen_shape *latest[SKELGEN_LATEST]; /* where the latest calls found theirs */
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

/* What kept a thread from its core (event/run_queue.c). */
struct skelgen_load {
	int file;         /* where the kernel says how long it stood in the run queue; -1: none */
	bool queue_known; /* it says so */
	bool pressure_known;
	bool moved;           /* blocks, between the last two samples */
	bool yielded;         /* its core of its own accord, between the last two samples */
	uint64_t waited_us;   /* in the run queue, between the last two samples */
	uint64_t blocks;      /* that it had moved at the last sample */
	uint64_t yields;      /* how often it had yielded then */
	uint64_t begin_ns;    /* in the run queue before the stream began */
	uint64_t sample_ns;   /* and before the last sample */
	uint64_t pressure_us; /* of the machine when the stream began */
	uint64_t gap_us;      /* of what the last gap lost: taken by others */
	uint64_t queued_us;   /* of all that was lost: taken by others */
	uint64_t device_us;   /* out of it, where blocks were moved meanwhile */
};

/* How often a thread asked for its CPU time, and how far apart (outside/cpu_time_queries.c). */
struct skelgen_queries {
	uint64_t count;
	uint64_t last;   /* when it was last answered, or when the stream began [units] */
	uint64_t cpu_ns; /* of the process, then */
	uint64_t inside; /* long calls since then [units] */
	uint64_t gaps[SKELGEN_QUERY_GAPS];
};

/* One file: what one thread of this rank does. */
struct skelgen_stream {
	/* fast path */
	struct skelgen_shape *predicted;
	uint64_t where; /* what came before: last shape, place in `predictions`, context */
	uint8_t *write;
	uint8_t *limit;
	uint64_t last_end; /* end of the previous event [units] */
	uint64_t special;  /* enum skelgen_special */
	uintptr_t frame;   /* of the wrapper that its thread is in */
	uint64_t events;
	uint64_t requests;
	bool stopped;
	struct skelgen_prediction *predictions;           /* by the last two shapes */
	struct skelgen_long_prediction *long_predictions; /* by the last eight */
	struct skelgen_order order;
	struct skelgen_taken taken;
	struct skelgen_requests made;

	/* one event's extras */
	uint64_t overhead; /* spent by the recorder since last_end [units] */
	uint64_t lost_us;  /* between the last two samples of CPU time [us] */
	uint64_t sample_cpu_ns;
	uint64_t sample_ticks;
	uint64_t sample_switches;
	struct skelgen_load load;
	struct skelgen_touched touched;
	struct skelgen_queries queries;
	uint32_t object;
	uint32_t error;
	struct skelgen_status_entry *statuses;
	size_t status_count;
	size_t status_room;
	struct skelgen_foreign *foreign;
	size_t foreign_count;
	size_t foreign_room;
	struct skelgen_poll poll; /* the latest, and those that take turns with it */
	struct skelgen_poll other_polls[SKELGEN_POLLS_IN_TURN - 1];
	size_t other_poll_count;

	/* scratch of completions and vectors */
	MPI_Request *held; /* what a completion was given */
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
	bool over;                       /* its thread has ended */
	bool clock_known;                /* the next one can be asked */
	clockid_t cpu_clock;             /* of its thread */
	uint64_t begin_cpu_ns;           /* what that showed first */
	struct skelgen_stream **current; /* skelgen_current of its thread */
	struct skelgen_stream *next;
	uint64_t file_bytes; /* length of the file */
	uint64_t checked;    /* offset behind its last CHECK record */
	dev_t device;        /* of the file: its number may be another one's by now */
	ino_t inode;
	bool lost; /* the file was cut or cannot take what is written: `window` leads nowhere */
	struct skelgen_guard *guard;
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
	char local[2048];    /* folder on the node where files are written first; or empty */
	char phases[2048];   /* folder with the marks of phases to be measured; or empty */
	const char *program; /* path of the executable */
};

/* Where a thread is whose phases are measured (phases/); others are in no place. */
enum skelgen_place {
	SKELGEN_ELSEWHERE,
	SKELGEN_OUTSIDE,
	SKELGEN_INSIDE, /* of a call of MPI */
};

extern struct skelgen_process skelgen;
extern __thread struct skelgen_stream *skelgen_current __attribute__((tls_model("initial-exec")));
extern __thread enum skelgen_place skelgen_place __attribute__((tls_model("initial-exec")));

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

#endif
