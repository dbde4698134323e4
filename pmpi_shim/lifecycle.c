/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI_Init to the end of the process: settings, streams, what ends a recording. */
#include "wrap.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef MPI_ABI
#define FOR_ABI true
#else
#define FOR_ABI false
#endif

struct skelgen_process skelgen;
__thread struct skelgen_stream *skelgen_current __attribute__((tls_model("initial-exec")));
/* A thread that has or had a stream, or shall have none. */
static __thread bool seen __attribute__((tls_model("initial-exec")));

static struct skelgen_header header; /* of all streams but for thread and start */
static pthread_key_t thread_key;
static int thread_count;

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

static uint64_t hash_text(const void *text, size_t bytes)
{
	const uint8_t *p = text;
	uint64_t hash = 1;

	for (size_t i = 0; i < bytes; i++)
		hash = skelgen_mix(hash, p[i]);
	return hash;
}

static void read_boot_id(void)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	memcpy(header.boot_id, header.host, sizeof(header.boot_id));
	if (!file)
		return;
	if (fgets((char *)header.boot_id, sizeof(header.boot_id), file))
		header.boot_id[strcspn((char *)header.boot_id, "\n")] = 0;
	fclose(file);
}

/* The library's description of itself; the buffer is large enough for every library. */
static void read_library(char *text, size_t bytes)
{
	static char version[8192];
	int length = 0;

	pmpi.Get_library_version(version, &length);
	version[strcspn(version, "\n")] = 0;
	memcpy(text, version, bytes - 1);
}

/* Whether this shim was compiled for the MPI library that the program uses. */
static bool right_library(void)
{
	const char *text = (const char *)header.mpi_library;
	bool abi = strstr(skelgen_library_path(), "mpi_abi") != NULL;
	uint32_t family = SKELGEN_MPI_OTHER;

	if (strncmp(text, "Open MPI", 8) == 0)
		family = SKELGEN_MPI_OPENMPI;
	else if (strstr(text, "MPICH") || strstr(text, "MVAPICH") || strstr(text, "Intel(R) MPI"))
		family = SKELGEN_MPI_MPICH;
	return family == SKELGEN_FAMILY && abi == FOR_ABI;
}

static void fill_header(void)
{
	ssize_t n = readlink("/proc/self/exe", (char *)header.program, sizeof(header.program) - 1);
	int major = 0;
	int minor = 0;

	memcpy(header.magic, SKELGEN_MAGIC, sizeof(header.magic));
	pmpi.Get_version(&major, &minor);
	header.version = SKELGEN_FORMAT_VERSION;
	header.endian = SKELGEN_ENDIAN_CHECK;
	header.header_bytes = sizeof(header);
	header.clock_kind = skelgen.use_tsc ? SKELGEN_CLOCK_TSC : SKELGEN_CLOCK_MONOTONIC;
	header.unit_shift = skelgen.shift;
	header.mpi_family = SKELGEN_FAMILY;
	header.run_id = skelgen.run_id;
	header.world_rank = skelgen.rank;
	header.world_size = skelgen.size;
	header.thread_level = skelgen.level;
	header.ticks_per_s = skelgen.ticks_per_s;
	header.start_ticks = init.ticks;
	header.start_realtime_ns = init.wall_ns;
	header.pid = (uint32_t)skelgen.pid;
	header.mpi_standard = (uint32_t)(100 * major + minor);
	if (n <= 0)
		header.program[0] = 0;
}

/* A stream without its file; NULL when memory is short. */
static struct skelgen_stream *new_stream(int thread)
{
	struct skelgen_stream *s = aligned_alloc(64, (sizeof(*s) + 63) / 64 * 64);
	struct skelgen_shape *none = (struct skelgen_shape *)&skelgen_no_shape;

	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	s->thread = thread;
	s->predictions = malloc(SKELGEN_PREDICTIONS * sizeof(*s->predictions));
	s->long_predictions = calloc(SKELGEN_PREDICTIONS, sizeof(*s->long_predictions));
	if (!s->predictions || !s->long_predictions || !skelgen_interned_open(&s->interned)) {
		free(s->predictions);
		free(s->long_predictions);
		free(s);
		return NULL;
	}
	for (size_t i = 0; i < SKELGEN_PREDICTIONS; i++)
		s->predictions[i] = none;
	s->long_predictions[0].context = UINT32_MAX; /* no entry holds for its own index */
	s->slot = s->predictions;
	s->long_slot = s->long_predictions;
	s->predicted = none;
	if (thread)
		snprintf(s->path, sizeof(s->path), "%s/rank-%06d.t%03d.skt", skelgen.directory,
			 skelgen.rank, thread);
	else
		snprintf(s->path, sizeof(s->path), "%s/rank-%06d.skt", skelgen.directory,
			 skelgen.rank);
	return s;
}

/* The file stays; what remains in memory goes. */
static void free_stream(struct skelgen_stream *s)
{
	skelgen_interned_close(&s->interned);
	free(s->predictions);
	free(s->long_predictions);
	free(s->statuses);
	free(s->foreign);
	free(s->held);
	free(s->own_statuses);
	free(s->ages);
	free(s);
}

/* How many calls of each function were passed on. */
static void write_counts(struct skelgen_stream *s)
{
	uint8_t *payload = malloc(20 * (skelgen_function_count + 1));
	uint8_t *p = payload;
	size_t n = 0;

	for (size_t i = 0; i < skelgen_function_count; i++) {
		if (!skelgen_passed[i])
			continue;
		skelgen_define_function(s, skelgen_functions[i].id);
		n++;
	}
	if (!payload)
		return;
	p = skelgen_put_varint(p, n);
	for (size_t i = 0; i < skelgen_function_count; i++) {
		if (!skelgen_passed[i])
			continue;
		p = skelgen_put_varint(p, skelgen_functions[i].id);
		p = skelgen_put_varint(p, skelgen_passed[i]);
	}
	skelgen_define(s, SKELGEN_REC_COUNT, payload, (size_t)(p - payload));
	free(payload);
}

static void end_stream(struct skelgen_stream *s, enum skelgen_end reason, int code)
{
	if (s->stopped)
		return;
	skelgen_flush_poll(s);
	if (!s->thread)
		write_counts(s);
	skelgen_clock_record(s, SKELGEN_AT_FINALIZE);
	skelgen_file_end(s, reason, code);
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
		end_stream(stream, SKELGEN_END_THREAD, 0);
}

/* The program ended without MPI_Finalize. */
__attribute__((destructor)) static void process_ends(void)
{
	if (!skelgen.recording || getpid() != skelgen.pid)
		return;
	skelgen.recording = false;
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next)
		end_stream(s, SKELGEN_END_EXIT, 0);
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
	struct skelgen_stream *s = new_stream(0);

	errno = 0;
	if (s && skelgen_file_create(s))
		return s;
	*error = errno ? errno : ENOMEM;
	if (s)
		free_stream(s);
	return NULL;
}

static void write_init(struct skelgen_stream *s, uint32_t function, uint64_t site, uint64_t end)
{
	struct skelgen_call call = {
		.site = site,
		.function = function,
		.peer = SKELGEN_NO_PEER,
		.tag = SKELGEN_NO_TAG,
		.peer2 = SKELGEN_NO_PEER,
		.tag2 = SKELGEN_NO_TAG,
	};

	skelgen_file_begin(s, &header);
	s->last_end = init.ticks >> skelgen.shift;
	s->sample_cpu_ns = init.cpu_ns;
	s->sample_ticks = init.ticks;
	skelgen_clock_record(s, SKELGEN_AT_INIT);
	skelgen_event_general(s, &call, s->last_end, end >> skelgen.shift);
}

static void start(uint32_t function, uint64_t site, uint64_t ticks)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct agreement mine;
	struct agreement all;
	struct skelgen_stream *s;
	int error = 0;
	bool able;

	pthread_once(&once, once_for_the_process);
	pmpi.Comm_rank(mpi.comm_world, &skelgen.rank);
	pmpi.Comm_size(mpi.comm_world, &skelgen.size);
	pmpi.Query_thread(&skelgen.level);
	skelgen.pid = getpid();
	skelgen.multiple = skelgen.level == MPI_THREAD_MULTIPLE;
	skelgen.paused = 0;
	gethostname((char *)header.host, sizeof(header.host) - 1);
	read_boot_id();
	make_directory(skelgen.directory);
	able = skelgen_objects_open() && skelgen_requests_open() &&
	       skelgen_clock_prepare(skelgen.size);
	s = open_main_stream(&error);
	mine.run_id = skelgen.rank ? UINT64_MAX
				   : skelgen_mix(skelgen_mix((uint64_t)init.wall_ns, init.ns),
						 (uint64_t)skelgen.pid) >>
					     1;
	mine.host = hash_text(header.boot_id, sizeof(header.boot_id));
	mine.no_host = ~mine.host;
	mine.able = able;
	mine.failure = s ? UINT64_MAX : (uint64_t)skelgen.rank << 32 | (uint32_t)error;
	all = agree(mine);
	skelgen.run_id = all.run_id | 1;
	if (all.failure != UINT64_MAX)
		skelgen_say("cannot record into %s on rank %d: %s; the program runs on",
			    skelgen.directory, (int)(all.failure >> 32),
			    strerror((int)(uint32_t)all.failure));
	if (!all.able)
		return;
	skelgen.taking_part = true;
	seen = true;
	skelgen_clock_compare(all.host != ~all.no_host, mine.host);
	if (s) {
		fill_header();
		skelgen_measure_cost();
		write_init(s, function, site, ticks);
		skelgen.streams = s;
		thread_count = 1;
		skelgen.recording = true;
	}
	skelgen_clock_offsets(s, SKELGEN_AT_INIT);
	if (s) {
		s->overhead += skelgen_now() - s->last_end;
		s->special |= SKELGEN_SPECIAL_OVERHEAD;
		skelgen_current = s;
	}
}

void skelgen_init_end(int code, uint32_t function, uint64_t site)
{
	uint64_t ticks = skelgen_ticks();
	uint64_t ns = skelgen_monotonic_ns();

	init.running = false;
	if (code != MPI_SUCCESS)
		return;
	skelgen_clock_calibrate(init.ticks, init.ns, ticks, ns);
	memset(&header, 0, sizeof(header));
	read_library((char *)header.mpi_library, sizeof(header.mpi_library));
	if (!right_library()) {
		skelgen_say("this shim is for another MPI than the program's (%s); "
			    "nothing is recorded",
			    (const char *)header.mpi_library);
		return;
	}
	start(function, site, ticks);
}

/* The stream of a thread that makes its first call. */
static struct skelgen_stream *new_thread_stream(void)
{
	struct skelgen_stream *s;
	struct skelgen_header mine = header;

	pthread_mutex_lock(&skelgen.lock);
	s = new_stream(thread_count);
	if (s && !skelgen_file_create(s)) {
		free_stream(s);
		s = NULL;
	}
	if (s) {
		mine.thread = thread_count++;
		mine.start_ticks = skelgen_ticks();
		skelgen_file_begin(s, &mine);
		s->last_end = mine.start_ticks >> skelgen.shift;
		s->sample_cpu_ns = skelgen_thread_cpu_ns();
		s->sample_ticks = mine.start_ticks;
		skelgen_clock_record(s, SKELGEN_AT_INIT);
		s->next = skelgen.streams;
		skelgen.streams = s;
		pthread_setspecific(thread_key, s);
	}
	pthread_mutex_unlock(&skelgen.lock);
	if (!s)
		skelgen_say("cannot record a further thread: %s", strerror(errno));
	return s;
}

/* A wrapper without a current stream: nested in another, not recording, or a new thread. */
SKELGEN_COLD struct skelgen_stream *skelgen_begin_slow(void)
{
	if (unlikely(!skelgen_resolved))
		skelgen_resolve();
	if (seen || !skelgen.recording)
		return NULL;
	seen = true;
	return new_thread_stream();
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
	struct skelgen_call call = {
		.site = site,
		.function = function,
		.peer = SKELGEN_NO_PEER,
		.tag = SKELGEN_NO_TAG,
		.peer2 = SKELGEN_NO_PEER,
		.tag2 = SKELGEN_NO_TAG,
	};

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
		end_stream(s, SKELGEN_END_FINALIZE, 0);
		free_stream(s);
	}
	skelgen_objects_close();
	skelgen_requests_close();
}

/* An event whose peer is a number the program passed. */
static void write_control(struct skelgen_stream *s, uint32_t function, uint64_t site, int number)
{
	struct skelgen_call call = {
		.site = site,
		.function = function,
		.peer = number,
		.tag = SKELGEN_NO_TAG,
		.peer2 = SKELGEN_NO_PEER,
		.tag2 = SKELGEN_NO_TAG,
	};
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
		end_stream(s, SKELGEN_END_ABORT, errorcode);
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

/*
 * What recording one event costs outside the event's own duration, measured on a stream that
 * goes nowhere.
 */
void skelgen_measure_cost(void)
{
	enum { EVENTS = 64, ROUNDS = 20 };
	uint8_t memory[EVENTS * 16];
	struct skelgen_stream *s = new_stream(0);
	struct skelgen_shape shape = skelgen_no_shape;
	struct skelgen_call call = {.site = 1, .peer = 1, .tag = 1, .count_a = 1};
	uint64_t best = UINT64_MAX;
	unsigned shift = skelgen.shift;

	if (!s)
		return;
	shape.site = 1;
	shape.function = 0;
	shape.peer = 1;
	shape.tag = 1;
	shape.count_a = 1;
	shape.id = 1;
	for (size_t i = 0; i < SKELGEN_PREDICTIONS; i++)
		s->predictions[i] = &shape;
	s->predicted = &shape;
	s->limit = memory + sizeof(memory);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = skelgen_ticks();
		uint64_t inside = 0;

		s->write = memory;
		s->last_end = begin >> shift;
		for (int i = 0; i < EVENTS; i++) {
			uint64_t from = skelgen_clock_begin(s);
			uint64_t to = skelgen_now();

			s->special = 0;
			skelgen_event(s, call,
				      SKELGEN_USES_COMM | SKELGEN_USES_A | SKELGEN_USES_PEER, from,
				      to);
			inside += to - from;
		}
		begin = skelgen_ticks() - begin - (inside << shift);
		if (begin < best)
			best = begin;
	}
	skelgen.cost_ps = (uint64_t)((double)best * 1e12 / (double)skelgen.ticks_per_s / EVENTS);
	free_stream(s);
}
