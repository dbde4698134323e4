/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI_Init to the first record: what the ranks agree on. */
#include "lifecycle/start.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mpi_library.h"
#include "base/report.h"
#include "definitions/definitions.h"
#include "event/event.h"
#include "intern/call_site.h"
#include "intern/shape.h"
#include "lifecycle/clock_offsets.h"
#include "lifecycle/recording_cost.h"
#include "lifecycle/settings.h"
#include "lifecycle/stream.h"
#include "lifecycle/thread.h"
#include "lifecycle/trace_folder.h"
#include "outside/tools_in_front.h"
#include "outside/untraced_work.h"
#include "phases/measured_run.h"

#include <errno.h>
#include <unistd.h>

static bool opened; /* somebody called a wrapper that opens MPI */

static struct {
	bool running; /* inside MPI_Init */
	uint64_t ticks;
	uint64_t ns;
	int64_t wall_ns;
	uint64_t cpu_ns;
} init;

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
	skelgen_clock_pair(&init.ticks, &init.ns);
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
	if (s && skelgen_stream_create_file(s))
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
	skelgen_unseen_begin();
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
	skelgen_number_handles = skelgen_identify;
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

/* Measure phases instead of recording; the stream's file holds no more than the begin. */
static void measure_phases(struct skelgen_stream *s)
{
	skelgen_phase_check(s);
	skelgen_stream_end(s, SKELGEN_END_LIMIT, 0);
	skelgen_phase_begin(s);
}

/*
 * Begin to record. `end` is when the call returned that opened MPI [ticks]; what happened after
 * `since` [units] was done by the recorder.
 */
void skelgen_start(uint32_t function, uint64_t site, uint64_t end, uint64_t since)
{
	bool threads = skelgen_threads_prepare();
	bool able = prepare() && threads;
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
	skelgen_header_fill(init.ticks, init.wall_ns);
	s = open_in_folder(all.world);
	skelgen_run_begins(s);
	skelgen_measure_cost();
	if (s)
		write_init(s, function, site, end);
	skelgen_clock_compare(all.host != LARGEST - all.no_host, host);
	skelgen_clock_offsets(s, SKELGEN_AT_INIT);
	if (skelgen.phases[0] && all.world == 1 && !spawned())
		measure_phases(s);
	if (!s)
		return;
	s->overhead += skelgen_now() - since;
	s->special |= SKELGEN_SPECIAL_OVERHEAD;
	if (!skelgen_measuring)
		skelgen_current = s;
}

/* The call that opened MPI returned; false: nothing can be recorded. */
bool skelgen_init_done(int code)
{
	uint64_t ticks;
	uint64_t ns;

	init.running = false;
	if (code != MPI_SUCCESS)
		return false;
	skelgen_clock_pair(&ticks, &ns);
	skelgen_clock_calibrate(init.ticks, init.ns, ticks, ns);
	return skelgen_right_library();
}

void skelgen_init_end(int code, uint32_t function, uint64_t site)
{
	uint64_t ticks = skelgen_ticks();

	if (!skelgen_init_done(code))
		return;
	mpi.comm_world = MPI_COMM_WORLD;
	mpi.comm_self = MPI_COMM_SELF;
	skelgen.world_model = true;
	skelgen_start(function, site, ticks, ticks >> skelgen.shift);
}

/*
 * At the end: say so where MPI ran and no wrapper saw it begin, for nothing else tells why there is
 * no trace.
 */
void skelgen_tell_unseen(void)
{
	int (*initialized)(int *);
	const char *front;
	int done = 0;

	if (opened)
		return;
	*(void **)&initialized = skelgen_symbol("PMPI_Initialized");
	if (!initialized || initialized(&done) != MPI_SUCCESS || !done)
		return;
	skelgen_read_settings();
	front = skelgen_front_of("MPI_Init");
	if (!front)
		front = skelgen_front_of("MPI_Init_thread");
	if (front)
		skelgen_say("%s stands in front of the recorder and hides how MPI was opened; "
			    "nothing is recorded: put the recorder first in LD_PRELOAD",
			    front);
	else
		skelgen_say("this shim (for %s) saw nothing of how MPI was opened, perhaps by the "
			    "Fortran of another MPI; nothing is recorded: skelgen shim prints the "
			    "one for a program",
			    skelgen_library);
}
