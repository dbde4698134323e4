/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run that is measured instead of recorded. For each rank a file says at which of its calls the
 * phases of the program begin and end (phase_files.h; skelgen.phases.counts defines how calls are
 * counted); the recorder takes the time there, writes nothing else, and stops all ranks together
 * behind the last.
 *
 * The stream of the thread that called MPI_Init counts as stopped, so that wrappers find no current
 * one and take their slow path into skelgen_phase_enter(); they still follow requests.
 */
#include "phases/measured_run.h"

#include "base/clock.h"
#include "base/finalize_pause.h"
#include "base/mpi_library.h"
#include "base/report.h"
#include "definitions/communicator.h"
#include "definitions/request_table.h"
#include "phases/phase_files.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* A program that was stopped and whose MPI does not end is ended after so long [s]. */
#define PATIENCE_S 10
/* A probe's arithmetic: some tenths of a millisecond, three times. */
#define PROBE_STEPS 200000

bool skelgen_measuring; /* this run is measured, not recorded */

static struct {
	struct skelgen_stream *stream;
	struct skelgen_marks marks;
	struct skelgen_times times;
	uint64_t count;   /* calls so far */
	uint64_t counted; /* 1 where the call that runs is one of them */
	uintptr_t frame;  /* of its wrapper */
	uint64_t probed;  /* units that probes took which ended before `last_end` */
	uint64_t probing; /* units that further probes took */
	uint64_t probing_since;
} phase;

static void write_times(const char *word)
{
	skelgen_write_times(&phase.times, word, phase.count);
}

/*
 * Units that probes took until the last event ended. A call that never returned, as one that the
 * program jumped out of, ends no event: then what ended last may have ended before a probe.
 */
static uint64_t probed(void)
{
	if (phase.probing && phase.stream->last_end >= phase.probing_since) {
		phase.probed += phase.probing;
		phase.probing = 0;
	}
	return phase.probed;
}

static void take(uint32_t function)
{
	skelgen_keep_time(&phase.times, (struct skelgen_time){
						.count = phase.count,
						.units = phase.stream->last_end - probed(),
						.function = function,
					});
}

/* Return how long the arithmetic takes now: a chain in which each step needs the last. */
static uint64_t arithmetic(void)
{
	static volatile uint64_t result;
	uint64_t begin = skelgen_now();
	uint64_t value = result | 1;

	for (int i = 0; i < PROBE_STEPS; i++)
		value = value * 6364136223846793005u + 1442695040888963407u;
	result = value;
	return skelgen_now() - begin;
}

/*
 * See how fast the machine is at this moment. The middle of three: a rank that loses its core for
 * a moment is no slower machine, and what was measured shows that by itself.
 */
static void probe(void)
{
	uint64_t begin = skelgen_now();
	uint64_t a = arithmetic();
	uint64_t b = arithmetic();
	uint64_t c = arithmetic();
	uint64_t least = a < b ? a : b;
	uint64_t most = a < b ? b : a;

	skelgen_keep_time(&phase.times, (struct skelgen_time){
						.count = phase.count,
						.units = c < least  ? least
							 : c > most ? most
								    : c,
						.probe = true,
					});
	probed();
	if (!phase.probing)
		phase.probing_since = begin;
	phase.probing += skelgen_now() - begin;
}

/* Do what all ranks do at this event, so that none is still on its way to it. */
static int agree(int mine)
{
	int all = 1;

	pmpi.Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, mpi.comm_world);
	return all;
}

static void hold(void)
{
#ifdef __GLIBC__
	malloc_trim(0); /* what the program has freed need not be in the image */
#endif
	agree(0);
	write_times("held");
	skelgen_wait_for_marks(&phase.marks);
	if (!skelgen_read_marks(&phase.marks, phase.count))
		skelgen_say("rank %d: its new marks cannot be read; the program runs on",
			    skelgen.rank);
	agree(0);
	phase.stream->last_end = skelgen_now();
}

/* Let the process be ended by a signal, whatever the program did with that signal. */
static void end_soon(void)
{
	sigset_t set;

	signal(SIGALRM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm(PATIENCE_S);
}

/*
 * End the program on all ranks. Where a request is open MPI_Finalize may wait for it forever, so
 * one rank aborts them all. MPICH 5 takes leave of its launcher in exit() only, which
 * would run what the program wants done at its end: the launcher may say that a rank failed, and
 * end those that are slower here. What was measured is written by then.
 */
static _Noreturn void end_all(bool open)
{
	bool any = agree(open);

	end_soon();
	fflush(NULL);
	if (!any) {
		skelgen_pause_before_finalize();
		pmpi.Finalize();
	} else if (skelgen.rank == 0) {
		pmpi.Abort(mpi.comm_world, 0);
	} else {
		pause();
	}
	_exit(0);
}

static _Noreturn void stop(void)
{
	bool open = !skelgen.world_model || skelgen_requests_active(&phase.stream->made);

	write_times(open ? "stopping" : "stopped");
	end_all(open);
}

static SKELGEN_COLD void act(uint32_t function)
{
	while (phase.marks.next_count == phase.count) {
		enum skelgen_action action = skelgen_pass_mark(&phase.marks);

		if (action == MARK_TIME)
			take(function);
		else if (action == MARK_PROBE)
			probe();
		else if (action == MARK_HOLD)
			hold();
		else
			stop();
	}
}

/* Whether there are marks for this rank, and none for a rank behind the last. */
static bool marks_fit(void)
{
	return skelgen_read_marks(&phase.marks, phase.count) && !skelgen_has_marks(skelgen.size);
}

/* Whether all ranks have marks; those without would let the others wait. If not, the program ends.
 */
void skelgen_phase_check(struct skelgen_stream *s)
{
	phase.stream = s;
	if (!agree(!s || !marks_fit()))
		return;
	phase.count = (uint64_t)skelgen.size;
	write_times("no-marks");
	end_all(!skelgen.world_model);
}

/* Measure this run from now on, whose stream has ended. */
void skelgen_phase_begin(struct skelgen_stream *s)
{
	skelgen.recording = false;
	skelgen.taking_part = false;
	skelgen.long_gap = SKELGEN_LONGEST;
	skelgen.sampling = false; /* of CPU time */
	s->last_end = skelgen_now();
	skelgen_place = SKELGEN_OUTSIDE;
	skelgen_measuring = true;
}

/* Whether something was taken for this mark at the present count. */
static bool takes_at(const struct skelgen_mark *mark)
{
	return mark->count == phase.count &&
	       (mark->action == MARK_TIME || mark->action == MARK_PROBE);
}

/*
 * The call that runs was left by a jump or an exception of an error handler. A trace has no such
 * call: the next one has its count, and the time is taken there.
 */
static SKELGEN_COLD void forget_call(void)
{
	phase.count -= phase.counted;
	phase.counted = 0;
	while (phase.marks.next && phase.times.taken_count &&
	       takes_at(&phase.marks.marks[phase.marks.next - 1])) {
		phase.times.taken_count--;
		skelgen_return_mark(&phase.marks);
	}
	skelgen_retired(phase.stream, false);
	skelgen_place = SKELGEN_OUTSIDE;
}

/* The program enters a call, of a function that counts unless it is 0. */
struct skelgen_stream *skelgen_phase_enter(uint32_t function, uintptr_t frame)
{
	if (skelgen_place == SKELGEN_INSIDE && frame >= phase.frame)
		forget_call();
	if (skelgen_place != SKELGEN_OUTSIDE)
		return NULL;
	skelgen_place = SKELGEN_INSIDE; /* what MPI calls of its own is passed on */
	phase.frame = frame;
	phase.counted = function && !skelgen.paused;
	if (phase.counted) {
		if (unlikely(phase.count == phase.marks.next_count))
			act(function);
		phase.count++;
	}
	return phase.stream;
}

/*
 * Do what is to be done behind the last call. The communicator of a session may be gone by then:
 * its ranks go on to their end by themselves.
 */
static const char *end_alone(void)
{
	const char *word = "finalized";

	while (phase.marks.next_count == phase.count) {
		enum skelgen_action action = skelgen_pass_mark(&phase.marks);

		if (action == MARK_TIME)
			take(0);
		else if (action == MARK_STOP)
			word = "stopped";
	}
	return word;
}

/*
 * The program calls MPI_Finalize, or MPI_Session_finalize for its last session, or is a process
 * that a rank forked.
 */
void skelgen_phase_end(bool finalizing)
{
	bool mine = skelgen_measuring && skelgen_place != SKELGEN_ELSEWHERE;

	skelgen_measuring = false;
	if (!mine || !finalizing)
		return;
	if (skelgen_place == SKELGEN_INSIDE)
		forget_call();
	skelgen_place = SKELGEN_INSIDE;
	if (!skelgen.world_model) {
		write_times(end_alone());
		return;
	}
	if (phase.count == phase.marks.next_count)
		act(0);
	write_times("finalized");
}
