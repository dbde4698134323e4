/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI_Init to the end of the process: agreement of the ranks, what ends it all. */
#include "wrap.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct skelgen_process skelgen;
__thread struct skelgen_stream *skelgen_current __attribute__((tls_model("initial-exec")));
/* The run for which a thread has or had a stream, or shall have none. */
static __thread unsigned seen __attribute__((tls_model("initial-exec")));
static unsigned runs; /* a program without MPI_Init may start MPI again and again */

static pthread_key_t thread_key;
static bool finalizing; /* inside MPI_Finalize; in Fortran it may call that of C */
static bool opened;     /* somebody called a wrapper that opens MPI */

/* A call without arguments but one number. */
#define SKELGEN_CALL_ONLY(function_, site_, number) \
	{.site = site_,                             \
	 .function = function_,                     \
	 .peer = number,                            \
	 .tag = SKELGEN_NO_TAG,                     \
	 .peer2 = SKELGEN_NO_PEER,                  \
	 .tag2 = SKELGEN_NO_TAG}

static struct {
	bool running; /* inside MPI_Init */
	uint64_t ticks;
	uint64_t ns;
	int64_t wall_ns;
	uint64_t cpu_ns;
} init;

/* A process that a rank forks is no rank: it must not write into the rank's file. */
static void after_fork(void)
{
	skelgen.recording = false;
	skelgen.taking_part = false;
	skelgen_current = NULL;
	skelgen_phase_end(false);
}

static void thread_ends(void *stream)
{
	if (!skelgen.recording)
		return;
	pthread_mutex_lock(&skelgen.lock);
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next) {
		if (s != stream) /* it may be one of an earlier run */
			continue;
		skelgen_stream_end(s, SKELGEN_END_THREAD, 0);
		s->over = true;
	}
	pthread_mutex_unlock(&skelgen.lock);
}

/*
 * End all streams. Where other threads may be recording at this moment theirs are left as they
 * are, as if the process had been killed: their windows must stay mapped.
 */
static void end_streams(const struct skelgen_stream *own, enum skelgen_end reason, int code)
{
	skelgen.recording = false;
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next)
		if (s == own || !skelgen.multiple || s->stopped)
			skelgen_stream_end(s, reason, code);
}

/* Say so where MPI ran and no wrapper saw it begin: nothing else tells why there is no trace. */
static void tell_unseen(void)
{
	int (*initialized)(int *);
	int done = 0;

	*(void **)&initialized = skelgen_symbol("PMPI_Initialized");
	if (!initialized || initialized(&done) != MPI_SUCCESS || !done)
		return;
	skelgen_read_settings();
	skelgen_say("this shim (for %s) saw nothing of how MPI was opened, perhaps by the Fortran "
		    "of another MPI or a tool in front of it; nothing is recorded: skelgen shim "
		    "prints the one for a program",
		    skelgen_library);
}

/* The program ended without MPI_Finalize, or was never recorded. */
__attribute__((destructor)) static void process_ends(void)
{
	if (skelgen.recording && getpid() == skelgen.pid)
		end_streams(skelgen_current, SKELGEN_END_EXIT, 0);
	else if (!opened)
		tell_unseen();
}

static void once_for_the_process(void)
{
	pthread_mutexattr_t recursive;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&skelgen.lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	pthread_key_create(&thread_key, thread_ends);
	pthread_atfork(NULL, NULL, after_fork);
}

bool skelgen_init_begin(void)
{
	struct timespec wall;

	skelgen_resolve();
	opened = true;
	if (init.running || skelgen.taking_part)
		return false;
	init.running = true;
	skelgen_read_settings();
	skelgen_clock_choose();
	clock_gettime(CLOCK_REALTIME, &wall);
	init.wall_ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
	init.cpu_ns = skelgen_thread_cpu_ns();
	init.ns = skelgen_monotonic_ns();
	init.ticks = skelgen_ticks();
	return true;
}

/* What no rank exceeds. MPICH 4.0 compares unsigned numbers as if they were signed. */
#define LARGEST (UINT64_MAX >> 1)

/* What the ranks tell each other at the start, all by one minimum. */
struct agreement {
	uint64_t run_id;
	uint64_t host;
	uint64_t no_host; /* LARGEST - host: equal minima mean equal hosts */
	uint64_t able;
	uint64_t world; /* which folder rank 0 took; 0: none */
};

static struct agreement agree(struct agreement mine)
{
	struct agreement all;

	pmpi.Allreduce(&mine, &all, sizeof(mine) / sizeof(uint64_t), MPI_UINT64_T, MPI_MIN,
		       mpi.comm_world);
	return all;
}

static struct skelgen_stream *open_main_stream(int *error)
{
	struct skelgen_stream *s = skelgen_stream_new(0);

	errno = 0;
	if (s && skelgen_file_create(s))
		return s;
	*error = errno ? errno : ENOMEM;
	if (s)
		skelgen_stream_free(s);
	return NULL;
}

static uint64_t new_run_id(void)
{
	uint64_t hash =
		skelgen_mix(skelgen_mix((uint64_t)init.wall_ns, init.ns), (uint64_t)skelgen.pid);

	return hash >> 1 | 1; /* below all ones, not 0 */
}

static void write_init(struct skelgen_stream *s, uint32_t function, uint64_t site, uint64_t end)
{
	struct skelgen_call call = SKELGEN_CALL_ONLY(function, site, SKELGEN_NO_PEER);

	skelgen_stream_begin(s, init.ticks, init.cpu_ns);
	skelgen_event_general(s, &call, s->last_end, end >> skelgen.shift);
	skelgen.streams = s;
	skelgen.recording = true;
}

/* Ask MPI who we are; false: this rank cannot take part. */
static bool prepare(void)
{
	uint64_t most = skelgen.max_run_bytes;

	pmpi.Comm_rank(mpi.comm_world, &skelgen.rank);
	pmpi.Comm_size(mpi.comm_world, &skelgen.size);
	skelgen.level = MPI_THREAD_MULTIPLE; /* of sessions: it cannot be asked */
	if (skelgen.world_model)
		pmpi.Query_thread(&skelgen.level);
	skelgen.pid = getpid();
	skelgen.multiple = skelgen.level == MPI_THREAD_MULTIPLE;
	skelgen.paused = 0;
	skelgen.threads = 0;
	skelgen.used_bytes = 0;
	skelgen.max_bytes = most ? most / (uint64_t)skelgen.size + 1 : 0;
	skelgen_site_prepare();
	return skelgen_objects_open() && skelgen_clock_prepare(skelgen.size);
}

static bool spawned(void)
{
	MPI_Comm parent = mpi.comm_null;

	if (skelgen.world_model)
		pmpi.Comm_get_parent(&parent);
	return parent != mpi.comm_null;
}

/* Open this rank's file in the folder that rank 0 took; rank 0 tells of the first failure. */
static struct skelgen_stream *open_in_folder(uint64_t world)
{
	int error = 0;
	struct skelgen_stream *s;
	uint64_t mine;
	uint64_t first = LARGEST;

	skelgen_folder_use(world);
	s = open_main_stream(&error);
	mine = s ? LARGEST : (uint64_t)skelgen.rank << 32 | (uint32_t)error;
	pmpi.Reduce(&mine, &first, 1, MPI_UINT64_T, MPI_MIN, 0, mpi.comm_world);
	if (first != LARGEST)
		skelgen_say("cannot record into %s on rank %d: %s; the program runs on",
			    skelgen.local[0] ? skelgen.local : skelgen_folder(), (int)(first >> 32),
			    skelgen_reason((int)(uint32_t)first));
	else if (world > 1 && !spawned())
		skelgen_say("%s holds another run; this one is in %s", skelgen.directory,
			    skelgen_folder());
	return s;
}

/*
 * Begin to record. `end` is when the call returned that opened MPI [ticks]; what happened after
 * `since` [units] was done by the recorder.
 */
void skelgen_start(uint32_t function, uint64_t site, uint64_t end, uint64_t since)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int once_done = pthread_once(&once, once_for_the_process);
	bool able = prepare() && once_done == 0;
	uint64_t host = skelgen_host() >> 1;
	int error = 0;
	struct skelgen_stream *s;
	struct agreement all = agree((struct agreement){
		.run_id = skelgen.rank ? LARGEST : new_run_id(),
		.host = host,
		.no_host = LARGEST - host,
		.able = able,
		.world = skelgen.rank ? LARGEST : skelgen_folder_take(&error),
	});

	if (error)
		skelgen_say("cannot record into %s: %s; the program runs on", skelgen_folder(),
			    strerror(error));
	else if (!all.able && skelgen.rank == 0)
		skelgen_folder_leave();
	if (!all.able || !all.world)
		return;
	skelgen.run_id = all.run_id;
	skelgen.taking_part = true;
	seen = ++runs;
	skelgen_header_fill(init.ticks, init.wall_ns);
	s = open_in_folder(all.world);
	skelgen_measure_cost();
	if (s)
		write_init(s, function, site, end);
	skelgen_clock_compare(all.host != LARGEST - all.no_host, host);
	skelgen_clock_offsets(s, SKELGEN_AT_INIT);
	if (skelgen.phases[0] && all.world == 1 && !spawned())
		skelgen_phase_begin(s);
	if (!s)
		return;
	s->overhead += skelgen_now() - since;
	s->special |= SKELGEN_SPECIAL_OVERHEAD;
	if (!skelgen_measuring)
		skelgen_current = s;
}

/* The call that opened MPI returned at these ticks; false: nothing can be recorded. */
bool skelgen_init_done(int code, uint64_t ticks)
{
	init.running = false;
	if (code != MPI_SUCCESS)
		return false;
	skelgen_clock_calibrate(init.ticks, init.ns, ticks, skelgen_monotonic_ns());
	return skelgen_right_library();
}

void skelgen_init_end(int code, uint32_t function, uint64_t site)
{
	uint64_t ticks = skelgen_ticks();

	if (!skelgen_init_done(code, ticks))
		return;
	mpi.comm_world = MPI_COMM_WORLD;
	mpi.comm_self = MPI_COMM_SELF;
	skelgen.world_model = true;
	skelgen_start(function, site, ticks, ticks >> skelgen.shift);
}

/* A wrapper without a current stream: nested in another, not recording, or a new thread. */
SKELGEN_COLD struct skelgen_stream *skelgen_begin_slow(uint32_t function)
{
	struct skelgen_stream *s;

	if (unlikely(!skelgen_resolved))
		skelgen_resolve();
	if (skelgen_measuring)
		return skelgen_phase_enter(function);
	if (!skelgen.recording || seen == runs)
		return NULL;
	seen = runs;
	s = skelgen_stream_of_thread();
	if (s)
		pthread_setspecific(thread_key, s);
	return s;
}

/* Rank 0 tells how many ranks' files ended early, unless it said so of its own. */
static void report_stopped(const struct skelgen_stream *s)
{
	int mine;
	int all = 0;

	while (s && s->thread)
		s = s->next;
	mine = s && s->stopped;
	pmpi.Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, mpi.comm_world);
	if (all && !mine)
		skelgen_say("the files of %d ranks end before the program did", all);
}

/* MPI is about to be closed: let go of what it must not find in use. */
struct skelgen_finalize skelgen_ending(void)
{
	struct skelgen_finalize state = {skelgen_current, 0, true};

	if (state.stream)
		state.begin = skelgen_clock_begin(state.stream);
	skelgen_current = NULL;
	if (skelgen.world_model) {
		report_stopped(skelgen.streams);
		skelgen_clock_offsets(state.stream, SKELGEN_AT_FINALIZE);
	}
	skelgen_clock_release();
	skelgen_objects_finalize();
	if (skelgen.world_model)
		skelgen_part();
	return state;
}

struct skelgen_finalize skelgen_finalize_begin(void)
{
	skelgen_resolve();
	if (skelgen_measuring)
		skelgen_phase_end(true);
	if (!skelgen.taking_part || !skelgen.world_model || finalizing)
		return (struct skelgen_finalize){NULL, 0, false};
	finalizing = true;
	return skelgen_ending();
}

void skelgen_finalize_end(struct skelgen_finalize state, int code, uint32_t function, uint64_t site)
{
	struct skelgen_call call = SKELGEN_CALL_ONLY(function, site, SKELGEN_NO_PEER);

	(void)code;
	if (!state.ends)
		return;
	finalizing = false;
	skelgen.recording = false;
	skelgen.taking_part = false;
	if (state.stream)
		skelgen_event_general(state.stream, &call, state.begin, skelgen_now());
	pthread_mutex_lock(&skelgen.lock);
	while (skelgen.streams) {
		struct skelgen_stream *s = skelgen.streams;

		skelgen.streams = s->next;
		skelgen_stream_end(s, SKELGEN_END_FINALIZE, 0);
		skelgen_stream_free(s);
	}
	pthread_mutex_unlock(&skelgen.lock);
	skelgen_objects_close();
}

/* An event whose peer is a number the program passed. */
static void write_control(struct skelgen_stream *s, uint32_t function, uint64_t site, int number)
{
	struct skelgen_call call = SKELGEN_CALL_ONLY(function, site, number);
	uint64_t now = skelgen_clock_begin(s);

	skelgen_event_general(s, &call, now, now);
}

void skelgen_aborting(uint32_t function, uint64_t site, int errorcode)
{
	struct skelgen_stream *s = skelgen_current;

	skelgen_resolve();
	skelgen_current = NULL;
	if (s)
		write_control(s, function, site, errorcode);
	if (skelgen.recording)
		end_streams(s, SKELGEN_END_ABORT, errorcode);
}

void skelgen_control(uint32_t function, uint64_t site, int level)
{
	struct skelgen_stream *s = skelgen_current;

	skelgen_resolve();
	if (skelgen_measuring)
		skelgen.paused = !level;
	if (!s)
		return;
	if (level)
		skelgen.paused = 0;
	write_control(s, function, site, level);
	skelgen_flush_poll(s);
	if (!level)
		skelgen.paused = 1;
}
