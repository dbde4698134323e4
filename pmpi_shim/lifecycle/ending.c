/* SPDX-License-Identifier: BSD-3-Clause */
/* What ends or pauses a recording: Finalize, Abort, exit, Pcontrol. */
#include "lifecycle/ending.h"

#include "base/clock.h"
#include "base/finalize_pause.h"
#include "base/mpi_library.h"
#include "base/report.h"
#include "definitions/comm_members.h"
#include "definitions/definitions.h"
#include "encode/cut_file.h"
#include "event/cpu_sample.h"
#include "event/event.h"
#include "lifecycle/clock_offsets.h"
#include "lifecycle/start.h"
#include "lifecycle/stream.h"
#include "lifecycle/trace_folder.h"
#include "outside/untraced_work.h"
#include "phases/measured_run.h"

#include <unistd.h>

static bool finalizing; /* inside MPI_Finalize; in Fortran it may call that of C */

/*
 * End all streams. Where other threads may be recording at this moment theirs are left as they
 * are, as if the process had been killed: their windows must stay mapped. What is in them by now is
 * brought to its place.
 */
static void end_streams(const struct skelgen_stream *own, enum skelgen_end reason, int code)
{
	skelgen.recording = false;
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next)
		if (s == own || !skelgen.multiple || s->stopped)
			skelgen_stream_end(s, reason, code);
		else
			skelgen_folder_deliver(s);
}

/* The program ended without MPI_Finalize, or was never recorded. */
__attribute__((destructor)) static void process_ends(void)
{
	if (skelgen.recording && getpid() == skelgen.pid)
		end_streams(skelgen_current, SKELGEN_END_EXIT, 0);
	else
		skelgen_tell_unseen();
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

	skelgen_current = NULL; /* what the clock reads is not the program's */
	if (state.stream)
		state.begin = skelgen_clock_begin(state.stream, skelgen_now());
	skelgen_unseen_stop();
	if (state.stream)
		state.stream->frame = UINTPTR_MAX; /* what MPI calls now is all inside */
	if (skelgen.world_model) {
		report_stopped(skelgen.streams);
		skelgen_clock_offsets(state.stream, SKELGEN_AT_FINALIZE);
	}
	skelgen_clock_release();
	skelgen_members_finalize();
	if (skelgen.world_model)
		skelgen_pause_before_finalize();
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
		if (!s->over) /* its thread may call MPI in a further run */
			__atomic_store_n(s->current, NULL, __ATOMIC_RELAXED);
		skelgen_stream_end(s, SKELGEN_END_FINALIZE, 0);
		skelgen_stream_free(s);
	}
	skelgen_guard_close();
	pthread_mutex_unlock(&skelgen.lock);
	skelgen_objects_close();
}

/* An event whose peer is a number the program passed. */
static void write_control(struct skelgen_stream *s, uint32_t function, uint64_t site, int number)
{
	struct skelgen_call call = SKELGEN_CALL_ONLY(function, site, number);
	uint64_t now = skelgen_clock_begin(s, skelgen_now());

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
