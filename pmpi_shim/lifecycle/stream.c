/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of a process: one for each thread, with its header and its end. */
#include "lifecycle/stream.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mpi_library.h"
#include "base/report.h"
#include "definitions/request_table.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"
#include "event/clock_record.h"
#include "event/event.h"
#include "event/run_queue.h"
#include "event/touched_memory.h"
#include "intern/interned.h"
#include "intern/prediction.h"
#include "intern/shape.h"
#include "lifecycle/trace_folder.h"
#include "outside/cpu_time_queries.h"
#include "outside/untraced_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef MPI_ABI
#define FOR_ABI true
#else
#define FOR_ABI false
#endif

static struct skelgen_header header; /* of all streams but for thread and start */

/* Name this boot of this machine; fall back to the host's name. */
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

/* Read what tells this machine from others; return a number that stands for it. */
uint64_t skelgen_host(void)
{
	uint64_t hash = 1;

	gethostname((char *)header.host, sizeof(header.host) - 1);
	read_boot_id();
	for (size_t i = 0; i < sizeof(header.boot_id); i++)
		hash = skelgen_mix(hash, header.boot_id[i]);
	return hash;
}

/* The library's description of itself; the buffer is large enough for every library. */
static void read_library(void)
{
	static char version[8192];
	int length = 0;

	pmpi.Get_library_version(version, &length);
	skelgen.over_ucx = strstr(version, "ch4:ucx");
	version[strcspn(version, "\n")] = 0;
	memcpy(header.mpi_library, version, sizeof(header.mpi_library) - 1);
}

/* Whether this shim was compiled for the MPI library that the program uses; if not, say so. */
bool skelgen_right_library(void)
{
	const char *text = (const char *)header.mpi_library;
	const char *file = strrchr(skelgen_library_path(), '/');
	bool abi = file && strncmp(file, "/libmpi_abi.", 12) == 0;

	read_library();
	header.mpi_family = SKELGEN_MPI_OTHER;
	if (strncmp(text, "Open MPI", 8) == 0)
		header.mpi_family = SKELGEN_MPI_OPENMPI;
	else if (strstr(text, "MPICH") || strstr(text, "MVAPICH") || strstr(text, "Intel(R) MPI"))
		header.mpi_family = SKELGEN_MPI_MPICH;
	/* Any library can be behind the standard's own binary interface. */
	if (abi == FOR_ABI && (FOR_ABI || header.mpi_family == SKELGEN_FAMILY))
		return true;
	skelgen_say("this shim is for another MPI (%s) than the program's (%s, %s); nothing is "
		    "recorded: skelgen shim prints the one for a program",
		    skelgen_library, skelgen_library_path(), text);
	return false;
}

/* Path of the executable. */
static const char *program(void)
{
	bool whole = !header.program[sizeof(header.program) - 2];

	return header.program[0] && whole ? (const char *)header.program : "/proc/self/exe";
}

/* What is equal in the headers of all streams of this process. */
void skelgen_header_fill(uint64_t start_ticks, int64_t start_realtime_ns)
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
	header.run_id = skelgen.run_id;
	header.world_rank = skelgen.rank;
	header.world_size = skelgen.size;
	header.thread_level = skelgen.level;
	header.ticks_per_s = skelgen.ticks_per_s;
	header.start_ticks = start_ticks;
	header.start_realtime_ns = start_realtime_ns;
	header.pid = (uint32_t)skelgen.pid;
	header.mpi_standard = (uint32_t)(100 * major + minor);
	if (n <= 0)
		header.program[0] = 0;
	skelgen.program = program();
}

/* A stream without its file; NULL when memory is short. */
struct skelgen_stream *skelgen_stream_new(int thread)
{
	struct skelgen_stream *s = aligned_alloc(64, (sizeof(*s) + 63) / 64 * 64);

	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	s->thread = thread;
	s->load.file = -1;
	if (!skelgen_predictions_open(s) || !skelgen_interned_open(&s->interned) ||
	    !skelgen_requests_open(&s->made)) {
		skelgen_stream_free(s);
		return NULL;
	}
	skelgen_latest_forget(&s->interned);
	skelgen_folder_name(s);
	s->special = skelgen.callstack > 1 ? SKELGEN_SPECIAL_STACK : 0;
	return s;
}

/* The file stays; what remains in memory goes. */
void skelgen_stream_free(struct skelgen_stream *s)
{
	skelgen_load_close(s);
	skelgen_interned_close(&s->interned);
	skelgen_requests_close(&s->made);
	skelgen_predictions_close(s);
	free(s->statuses);
	free(s->foreign);
	free(s->held);
	free(s->own_statuses);
	free(s->ages);
	free(s);
}

/* Create the file, or open the empty one that took the folder; on failure errno says why. */
bool skelgen_stream_create_file(struct skelgen_stream *s)
{
	int error;

	s->file = skelgen_folder_open(s);
	if (s->file < 0)
		return false;
	error = skelgen_file_open(s);
	if (!error)
		return true;
	close(s->file);
	skelgen_folder_remove(s);
	errno = error;
	return false;
}

/* How many calls of each function were passed on, then the time inside them. */
static void write_counts(struct skelgen_stream *s)
{
	uint8_t *payload = malloc(30 * (skelgen_function_count + 1));
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
	for (size_t i = 0; i < skelgen_function_count; i++)
		if (skelgen_passed[i])
			p = skelgen_put_varint(p, skelgen_passed_units[i]);
	skelgen_define(s, SKELGEN_REC_COUNT, payload, (size_t)(p - payload));
	free(payload);
}

/* Write what comes last into a stream's file and bring it to its place. */
void skelgen_stream_end(struct skelgen_stream *s, enum skelgen_end reason, int code)
{
	if (!s->stopped) {
		skelgen_flush_poll(s);
		if (!s->thread) {
			write_counts(s);
			skelgen_unseen_write(s);
			skelgen_touched_write(s);
		}
		skelgen_queries_write(s);
		skelgen_load_end(s);
		skelgen_clock_record(s, SKELGEN_AT_FINALIZE);
		skelgen_file_end(s, reason, code);
	}
	skelgen_load_close(s);
	skelgen_folder_deliver(s);
}

/* Begin the file of a stream whose time starts at these ticks and this CPU time. */
void skelgen_stream_begin(struct skelgen_stream *s, uint64_t ticks, uint64_t cpu_ns)
{
	struct skelgen_header mine = header;

	mine.thread = s->thread;
	mine.start_ticks = ticks;
	skelgen_file_begin(s, &mine);
	s->current = &skelgen_current;
	s->last_end = ticks >> skelgen.shift;
	s->queries.last = s->last_end;
	s->queries.cpu_ns = skelgen_process_cpu_ns();
	s->sample_cpu_ns = cpu_ns;
	skelgen_unseen_thread_begins(s, s->thread ? cpu_ns : skelgen_thread_cpu_ns());
	s->sample_ticks = ticks;
	skelgen_load_begin(s);
	skelgen_touched_begin(s);
	skelgen_clock_record(s, SKELGEN_AT_INIT);
	skelgen_folder_remark(s);
}

/*
 * Free what ended threads left, but where others may still complete their requests. Here and
 * not when a thread ends, because then another one may just go through the list in a call of MPI.
 */
static void free_ended(void)
{
	struct skelgen_stream **place = &skelgen.streams;

	while (*place) {
		struct skelgen_stream *s = *place;

		if (s->over && skelgen_requests_none(&s->made)) {
			*place = s->next;
			skelgen_stream_free(s);
		} else {
			place = &s->next;
		}
	}
}

/* The stream of a thread that makes its first call; the gap before that is what making it took. */
struct skelgen_stream *skelgen_stream_of_thread(void)
{
	struct skelgen_stream *s;
	uint64_t begin = skelgen_ticks();

	pthread_mutex_lock(&skelgen.lock);
	free_ended();
	s = skelgen_stream_new(++skelgen.threads);
	if (s && !skelgen_stream_create_file(s)) {
		skelgen_stream_free(s);
		s = NULL;
	}
	if (s) {
		skelgen_stream_begin(s, begin, skelgen_thread_cpu_ns());
		s->next = skelgen.streams;
		skelgen.streams = s;
		s->sample_ticks = skelgen_ticks(); /* waiting for the disk is not lost to others */
		s->overhead = skelgen_now() - s->last_end;
		s->special |= SKELGEN_SPECIAL_OVERHEAD;
	}
	pthread_mutex_unlock(&skelgen.lock);
	if (!s)
		skelgen_say("cannot record a further thread: %s", skelgen_reason(errno));
	return s;
}
