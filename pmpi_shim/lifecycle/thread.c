/* SPDX-License-Identifier: BSD-3-Clause */
/* Which threads record, from their first call to their end, and that a forked process does not. */
#include "lifecycle/thread.h"

#include "base/mpi_library.h"
#include "definitions/communicator.h"
#include "intern/prediction.h"
#include "lifecycle/stream.h"
#include "outside/untraced_work.h"
#include "phases/measured_run.h"

/* The run for which a thread has or had a stream, or shall have none. */
static __thread unsigned seen __attribute__((tls_model("initial-exec")));
static __thread struct skelgen_stream *own __attribute__((tls_model("initial-exec")));
static unsigned runs; /* a program without MPI_Init may start MPI again and again */

static pthread_key_t thread_key;

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
	skelgen_current = own = NULL;
	pthread_mutex_lock(&skelgen.lock);
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next) {
		if (s != stream) /* it may be one of an earlier run */
			continue;
		skelgen_unseen_thread_ends(s);
		if (skelgen.recording)
			skelgen_stream_end(s, SKELGEN_END_THREAD, 0);
		s->over = true;
	}
	pthread_mutex_unlock(&skelgen.lock);
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

bool skelgen_threads_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	return pthread_once(&once, once_for_the_process) == 0;
}

/* This thread has a stream of the run that begins; others get theirs at their first call. */
void skelgen_run_begins(struct skelgen_stream *s)
{
	seen = ++runs;
	own = s;
}

/*
 * The thread's stream where the wrapper in which it was has been left by a jump or an exception
 * (of an error handler): its frame was below or in the place of that of the wrapper which begins
 * now. The frames of calls that MPI makes inside a wrapper are all beyond its own.
 */
static struct skelgen_stream *left_by_jump(uintptr_t frame)
{
	if (!own || own->stopped || frame < own->frame)
		return NULL;
	skelgen_retired(own, false);
	skelgen_untake(own);
	return own;
}

/* A wrapper without a current stream: nested in another, not recording, or a new thread. */
SKELGEN_COLD struct skelgen_stream *skelgen_begin_slow(uint32_t function, uintptr_t frame)
{
	struct skelgen_stream *s;

	if (unlikely(!skelgen_resolved))
		skelgen_resolve();
	if (skelgen_measuring)
		return skelgen_phase_enter(function, frame);
	if (!skelgen.recording)
		return NULL;
	if (seen == runs) {
		s = left_by_jump(frame);
	} else {
		seen = runs;
		own = s = skelgen_stream_of_thread();
		if (s)
			pthread_setspecific(thread_key, s);
	}
	if (s)
		s->frame = frame;
	return s;
}
