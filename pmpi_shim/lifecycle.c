/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI_Init to the end of the process: settings, agreement of the ranks, what ends it all. */
#include "wrap.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct skelgen_process skelgen;
__thread struct skelgen_stream *skelgen_current __attribute__((tls_model("initial-exec")));
/* A thread that has or had a stream, or shall have none. */
static __thread bool seen __attribute__((tls_model("initial-exec")));

static pthread_key_t thread_key;

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

/* Report a problem, once for the whole run: on rank 0. */
void skelgen_say(const char *format, ...)
{
	char text[1024];
	va_list arguments;
	int n = snprintf(text, sizeof(text), "skelgen: ");

	if (skelgen.rank != 0)
		return;
	va_start(arguments, format);
	n += vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, arguments);
	va_end(arguments);
	if (n > (int)sizeof(text) - 2)
		n = (int)sizeof(text) - 2;
	text[n++] = '\n';
	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		errno = 0;
}

/* The only place that reads the environment. */
static void read_settings(void)
{
	const char *directory = getenv("SKELGEN_DIR");
	const char *most = getenv("SKELGEN_MAX_BYTES");
	const char *rank = getenv("PMI_RANK");

	if (!rank)
		rank = getenv("OMPI_COMM_WORLD_RANK");
	if (!rank)
		rank = getenv("PMIX_RANK");
	if (!rank)
		rank = getenv("SLURM_PROCID");
	skelgen.rank = rank ? atoi(rank) : 0; /* for messages until MPI says it */
	snprintf(skelgen.directory, sizeof(skelgen.directory), "%s",
		 directory && *directory ? directory : "skelgen-run");
	skelgen.max_bytes = most ? strtoull(most, NULL, 10) : 0;
}

/* mkdir -p */
static void make_directory(const char *path)
{
	char part[sizeof(skelgen.directory)];

	snprintf(part, sizeof(part), "%s", path);
	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(part, 0777);
		*p = '/';
	}
	mkdir(part, 0777);
}

/* A process that a rank forks is no rank: it must not write into the rank's file. */
static void after_fork(void)
{
	skelgen.recording = false;
	skelgen.taking_part = false;
	skelgen_current = NULL;
	seen = true;
}

static void thread_ends(void *stream)
{
	if (skelgen.recording)
		skelgen_stream_end(stream, SKELGEN_END_THREAD, 0);
}

/* The program ended without MPI_Finalize. */
__attribute__((destructor)) static void process_ends(void)
{
	if (!skelgen.recording || getpid() != skelgen.pid)
		return;
	skelgen.recording = false;
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next)
		skelgen_stream_end(s, SKELGEN_END_EXIT, 0);
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
	if (init.running || skelgen.taking_part)
		return false;
	init.running = true;
	read_settings();
	skelgen_clock_choose();
	clock_gettime(CLOCK_REALTIME, &wall);
	init.wall_ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
	init.cpu_ns = skelgen_thread_cpu_ns();
	init.ns = skelgen_monotonic_ns();
	init.ticks = skelgen_ticks();
	return true;
}

/* What the ranks tell each other at the start, all by one minimum. */
struct agreement {
	uint64_t run_id;
	uint64_t host;
	uint64_t no_host; /* ~host: equal minima mean equal hosts */
	uint64_t able;
	uint64_t failure; /* rank << 32 | errno, or all ones */
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
	pmpi.Comm_rank(mpi.comm_world, &skelgen.rank);
	pmpi.Comm_size(mpi.comm_world, &skelgen.size);
	pmpi.Query_thread(&skelgen.level);
	skelgen.pid = getpid();
	skelgen.multiple = skelgen.level == MPI_THREAD_MULTIPLE;
	skelgen.paused = 0;
	make_directory(skelgen.directory);
	return skelgen_objects_open() && skelgen_requests_open() &&
	       skelgen_clock_prepare(skelgen.size);
}

static void start(uint32_t function, uint64_t site, uint64_t end)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int once_done = pthread_once(&once, once_for_the_process);
	bool able = prepare() && once_done == 0;
	uint64_t host = skelgen_host();
	int error = 0;
	struct skelgen_stream *s = open_main_stream(&error);
	struct agreement all = agree((struct agreement){
		.run_id = skelgen.rank ? UINT64_MAX : new_run_id(),
		.host = host,
		.no_host = ~host,
		.able = able,
		.failure = s ? UINT64_MAX : (uint64_t)skelgen.rank << 32 | (uint32_t)error,
	});

	if (all.failure != UINT64_MAX)
		skelgen_say("cannot record into %s on rank %d: %s; the program runs on",
			    skelgen.directory, (int)(all.failure >> 32),
			    strerror((int)(uint32_t)all.failure));
	if (!all.able)
		return;
	skelgen.run_id = all.run_id;
	skelgen.taking_part = true;
	seen = true;
	skelgen_header_fill(init.ticks, init.wall_ns);
	skelgen_measure_cost();
	if (s)
		write_init(s, function, site, end);
	skelgen_clock_compare(all.host != ~all.no_host, host);
	skelgen_clock_offsets(s, SKELGEN_AT_INIT);
	if (!s)
		return;
	s->overhead += skelgen_now() - s->last_end;
	s->special |= SKELGEN_SPECIAL_OVERHEAD;
	skelgen_current = s;
}

void skelgen_init_end(int code, uint32_t function, uint64_t site)
{
	uint64_t ticks = skelgen_ticks();
	uint64_t ns = skelgen_monotonic_ns();

	init.running = false;
	if (code != MPI_SUCCESS)
		return;
	skelgen_clock_calibrate(init.ticks, init.ns, ticks, ns);
	if (skelgen_right_library())
		start(function, site, ticks);
}

/* A wrapper without a current stream: nested in another, not recording, or a new thread. */
SKELGEN_COLD struct skelgen_stream *skelgen_begin_slow(void)
{
	struct skelgen_stream *s;

	if (unlikely(!skelgen_resolved))
		skelgen_resolve();
	if (seen || !skelgen.recording)
		return NULL;
	seen = true;
	s = skelgen_stream_of_thread();
	if (s)
		pthread_setspecific(thread_key, s);
	return s;
}

/* Rank 0 tells how many ranks' files ended early. */
static void report_stopped(const struct skelgen_stream *s)
{
	int mine = s && s->stopped;
	int all = 0;

	pmpi.Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, mpi.comm_world);
	if (all > mine)
		skelgen_say("the files of %d ranks end before the program did", all);
}

struct skelgen_finalize skelgen_finalize_begin(void)
{
	struct skelgen_finalize state = {skelgen_current, 0};

	skelgen_resolve();
	if (!skelgen.taking_part)
		return state;
	if (state.stream)
		state.begin = skelgen_clock_begin(state.stream);
	skelgen_current = NULL;
	report_stopped(skelgen.streams);
	skelgen_clock_offsets(state.stream, SKELGEN_AT_FINALIZE);
	skelgen_objects_finalize();
	return state;
}

void skelgen_finalize_end(struct skelgen_finalize state, int code, uint32_t function, uint64_t site)
{
	struct skelgen_call call = SKELGEN_CALL_ONLY(function, site, SKELGEN_NO_PEER);

	(void)code;
	if (!skelgen.taking_part)
		return;
	skelgen.recording = false;
	skelgen.taking_part = false;
	if (state.stream)
		skelgen_event_general(state.stream, &call, state.begin, skelgen_now());
	while (skelgen.streams) {
		struct skelgen_stream *s = skelgen.streams;

		skelgen.streams = s->next;
		skelgen_stream_end(s, SKELGEN_END_FINALIZE, 0);
		skelgen_stream_free(s);
	}
	skelgen_objects_close();
	skelgen_requests_close();
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
	if (!skelgen.recording)
		return;
	skelgen.recording = false;
	for (s = skelgen.streams; s; s = s->next)
		skelgen_stream_end(s, SKELGEN_END_ABORT, errorcode);
}

void skelgen_control(uint32_t function, uint64_t site, int level)
{
	struct skelgen_stream *s = skelgen_current;

	skelgen_resolve();
	if (!s)
		return;
	if (level)
		skelgen.paused = 0;
	write_control(s, function, site, level);
	skelgen_flush_poll(s);
	if (!level)
		skelgen.paused = 1;
}
