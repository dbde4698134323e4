/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank does and no event shows: threads that compute beside those that call MPI, processes
 * that it starts, GPU runtimes, files, and calls that a tool in front of us hides. Asked for when a
 * recording begins and when it ends, never in between.
 */
#include "outside/untraced_work.h"

#include "base/clock.h"
#include "base/report.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"
#include "outside/file_io.h"
#include "outside/tools_in_front.h"

#include <dirent.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_RUNTIMES 8
#define NAME_BYTES 64

/* What the process has used so far. */
struct used {
	uint64_t ns;        /* wall clock */
	uint64_t cpu_ns;    /* all threads */
	uint64_t waited_ns; /* children that were waited for */
};

static struct {
	struct used begin;
	uint64_t ended_ns; /* CPU time of threads that called MPI and have ended */
	bool stopped;
	uint64_t time_ns;
	uint64_t thread_ns;
	uint64_t child_ns;
	bool children_left;
	struct skelgen_file_io io;
	size_t runtimes;
	char runtime[MOST_RUNTIMES][NAME_BYTES];
	size_t fronts;
	struct skelgen_front front[SKELGEN_MOST_FRONTS];
} unseen;

static uint64_t clock_ns(clockid_t clock, uint64_t otherwise)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return otherwise;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct used used_now(void)
{
	struct rusage children = {0};

	getrusage(RUSAGE_CHILDREN, &children);
	return (struct used){
		.ns = skelgen_monotonic_ns(),
		.cpu_ns = skelgen_process_cpu_ns(),
		.waited_ns = skelgen_timeval_ns(children.ru_utime) +
			     skelgen_timeval_ns(children.ru_stime),
	};
}

void skelgen_unseen_begin(void)
{
	memset(&unseen, 0, sizeof(unseen));
	skelgen_file_io_take();
	unseen.begin = used_now();
}

/* A thread that records from now on: its CPU time is that of calls and computation we see. */
void skelgen_unseen_thread_begins(struct skelgen_stream *s, uint64_t cpu_ns)
{
	s->begin_cpu_ns = cpu_ns;
	s->clock_known = pthread_getcpuclockid(pthread_self(), &s->cpu_clock) == 0;
}

static uint64_t thread_ns(const struct skelgen_stream *s)
{
	uint64_t now = s->clock_known ? clock_ns(s->cpu_clock, s->begin_cpu_ns) : s->begin_cpu_ns;

	return now > s->begin_cpu_ns ? now - s->begin_cpu_ns : 0;
}

/* Called by the thread that ends, or when its clock is about to be forgotten. */
void skelgen_unseen_thread_ends(struct skelgen_stream *s)
{
	unseen.ended_ns += thread_ns(s);
	s->clock_known = false;
}

/*
 * CPU time beyond what the trace can show: the calls of all threads stand in it as one string, so
 * that threads which call MPI in turn are seen whole, and of those that compute at the same time
 * one.
 */
static uint64_t threads_ns(uint64_t cpu_ns, uint64_t elapsed_ns)
{
	uint64_t seen = unseen.ended_ns;

	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next)
		seen += thread_ns(s);
	if (seen > elapsed_ns)
		seen = elapsed_ns;
	return cpu_ns > seen ? cpu_ns - seen : 0;
}

/* CPU time of one process that runs, and of the children that it has waited for [ns]. */
static uint64_t child_ns(const char *pid)
{
	unsigned long long ticks[4] = {0};
	char path[64];
	char text[1024];
	char *rest;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	rest = strrchr(text, ')'); /* the name may hold anything */
	if (!rest ||
	    sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
		   &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 4)
		return 0;
	return (ticks[0] + ticks[1] + ticks[2] + ticks[3]) * 1000000000 /
	       (uint64_t)sysconf(_SC_CLK_TCK);
}

/* CPU time of the children of one of our threads that still run [ns]. */
static uint64_t children_ns(const char *thread)
{
	char path[96];
	char pid[24];
	uint64_t sum = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/children", thread);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fscanf(file, " %20s", pid) == 1)
		sum += child_ns(pid);
	fclose(file);
	return sum;
}

/* CPU time of all children that still run [ns]. */
static uint64_t living_ns(void)
{
	DIR *tasks = opendir("/proc/self/task");
	uint64_t sum = 0;

	for (struct dirent *entry; tasks && (entry = readdir(tasks));)
		if (entry->d_name[0] != '.')
			sum += children_ns(entry->d_name);
	if (tasks)
		closedir(tasks);
	return sum;
}

/* Whether there are children that nobody has waited for; none of them is touched. */
static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* What lets a program compute on GPUs, and hwloc's plugin that loads it to see whether any are. */
static const struct {
	const char *name;
	const char *plugin;
} runtimes[] = {
	{"libcuda", "hwloc_cuda"},           {"libcudart", "hwloc_cuda"},
	{"libamdhip64", "hwloc_rsmi"},       {"libhsa-runtime64", "hwloc_rsmi"},
	{"libze_loader", "hwloc_levelzero"}, {"libOpenCL", "hwloc_opencl"},
};

/* Whether a file is that library: libcuda.so.1, or libcudart-1a2b3c.so.12 as Python has it. */
static bool is_library(const char *file, const char *name)
{
	size_t length = strlen(name);

	return strncmp(file, name, length) == 0 && file[length] && strchr(".-", file[length]);
}

struct wanted {
	const char *name;
	char *found; /* file name; empty: none */
};

static int look_at(struct dl_phdr_info *info, size_t bytes, void *wanted)
{
	const struct wanted *one = wanted;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)bytes;
	if (!slash || !is_library(slash + 1, one->name))
		return 0;
	snprintf(one->found, NAME_BYTES, "%s", slash + 1);
	return 1;
}

static bool is_loaded(const char *name, char found[NAME_BYTES])
{
	struct wanted wanted = {name, found};

	return dl_iterate_phdr(look_at, &wanted);
}

/* Whether the process holds a GPU open. */
static bool gpu_is_open(void)
{
	static const char *const devices[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri/"};
	DIR *files = opendir("/proc/self/fd");
	bool found = false;
	char target[64];

	for (struct dirent *entry; files && (entry = readdir(files));) {
		ssize_t n = readlinkat(dirfd(files), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = 0;
		for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
			found |= strncmp(target, devices[i], strlen(devices[i])) == 0;
	}
	if (files)
		closedir(files);
	return found;
}

static void find_runtimes(void)
{
	bool open = gpu_is_open();

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		char plugin[NAME_BYTES];

		if (is_loaded(runtimes[i].name, unseen.runtime[unseen.runtimes]) &&
		    (open || !is_loaded(runtimes[i].plugin, plugin)))
			unseen.runtimes++;
	}
}

static void find_fronts(void)
{
	size_t kept = 0;

	unseen.fronts = skelgen_fronts_find(unseen.front);
	for (size_t i = 0; i < unseen.fronts; i++) {
		if (unseen.front[i].seen)
			continue;
		unseen.front[kept++] = unseen.front[i];
		skelgen_say("%s stands in front of the recorder and hides its calls of %s%s: put "
			    "the recorder first in LD_PRELOAD",
			    unseen.front[kept - 1].name, unseen.front[kept - 1].functions_text,
			    unseen.front[kept - 1].functions > 4 ? " and others" : "");
	}
	unseen.fronts = kept;
}

/* The recording is about to end: find out all of it, once. */
void skelgen_unseen_stop(void)
{
	int error = errno;
	struct used end;

	if (unseen.stopped || !unseen.begin.ns)
		return;
	unseen.stopped = true;
	unseen.io = skelgen_file_io_take();
	end = used_now();
	unseen.time_ns = end.ns - unseen.begin.ns;
	unseen.thread_ns = threads_ns(end.cpu_ns - unseen.begin.cpu_ns, unseen.time_ns);
	unseen.child_ns = end.waited_ns - unseen.begin.waited_ns;
	unseen.children_left = has_children();
	if (unseen.children_left)
		unseen.child_ns += living_ns();
	find_runtimes();
	find_fronts();
	errno = error;
}

static uint64_t ns_of(uint64_t ticks)
{
	return (uint64_t)((double)ticks * 1e9 / (double)skelgen.ticks_per_s);
}

static uint8_t *put_text(uint8_t *p, const char *text)
{
	return skelgen_put_string(p, text, strlen(text));
}

/* Write what was found into the stream of the thread that called MPI_Init. */
void skelgen_unseen_write(struct skelgen_stream *s)
{
	static uint8_t payload[8 * 10 + MOST_RUNTIMES * (NAME_BYTES + 10) +
			       SKELGEN_MOST_FRONTS * sizeof(struct skelgen_front)];
	uint8_t *p = payload;

	skelgen_unseen_stop();
	p = skelgen_put_varint(p, unseen.time_ns);
	p = skelgen_put_varint(p, unseen.thread_ns);
	p = skelgen_put_varint(p, unseen.child_ns);
	p = skelgen_put_varint(p, unseen.children_left);
	p = skelgen_put_varint(p, ns_of(unseen.io.ticks));
	p = skelgen_put_varint(p, unseen.io.bytes);
	p = skelgen_put_varint(p, unseen.runtimes);
	for (size_t i = 0; i < unseen.runtimes; i++)
		p = put_text(p, unseen.runtime[i]);
	p = skelgen_put_varint(p, unseen.fronts);
	for (size_t i = 0; i < unseen.fronts; i++) {
		p = put_text(p, unseen.front[i].name);
		p = skelgen_put_varint(p, unseen.front[i].functions);
		p = put_text(p, unseen.front[i].functions_text);
	}
	skelgen_define(s, SKELGEN_REC_UNSEEN, payload, (size_t)(p - payload));
}
