/* SPDX-License-Identifier: BSD-3-Clause */
/* From request handles to request numbers (request.c), mostly inline. Included by recorder.h. */
#ifndef SKELGEN_REQUEST_H
#define SKELGEN_REQUEST_H

#include "state.h"

enum skelgen_request_flags {
	SKELGEN_REQUEST_WATCHED = 1, /* its status holds what we do not know yet */
	SKELGEN_REQUEST_PERSISTENT = 2,
	SKELGEN_REQUEST_CANCELLED = 4,
	SKELGEN_REQUEST_PROMISE = 8, /* its completion makes a communicator */
};
SKELGEN_INLINE bool skelgen_watching(void)
{
	return __atomic_load_n(&skelgen_watched, __ATOMIC_RELAXED) != 0;
}
bool skelgen_requests_open(struct skelgen_requests *table);
bool skelgen_requests_none(struct skelgen_requests *table);
bool skelgen_requests_active(const struct skelgen_requests *table);
void skelgen_requests_close(struct skelgen_requests *table);
void skelgen_request_other(struct skelgen_stream *s, uint64_t handle, unsigned flags, uint64_t end);
void skelgen_hold(struct skelgen_stream *s, size_t n, const MPI_Request requests[]);
MPI_Status *skelgen_own_statuses(struct skelgen_stream *s, size_t n);
uint64_t skelgen_started(struct skelgen_stream *s, size_t n);
uint64_t skelgen_completed_all(struct skelgen_stream *s, size_t n, const MPI_Status statuses[]);
uint64_t skelgen_completed_some(struct skelgen_stream *s, size_t n, const int indices[], int first,
				const MPI_Status statuses[]);
uint64_t skelgen_completed_other(struct skelgen_stream *s, uint64_t handle,
				 const MPI_Status *status);
uint64_t skelgen_completed_failing(struct skelgen_stream *s, uint64_t held, uint64_t now);
void skelgen_gone(struct skelgen_stream *s, size_t n, const MPI_Request requests[],
		  const MPI_Status statuses[], int code);
void skelgen_look(struct skelgen_stream *s, uint64_t bit, const MPI_Status *status);
uint64_t skelgen_released(struct skelgen_stream *s, uint64_t handle);
uint64_t skelgen_cancelled(struct skelgen_stream *s, uint64_t handle);

SKELGEN_INLINE void skelgen_requests_leave(struct skelgen_requests *table)
{
	__atomic_store_n(&table->busy, false, __ATOMIC_RELEASE);
}

/*
 * A thread enters its own table without an atomic operation, until another one comes to it for
 * the first time: that sets `shared`, has all threads see it, and waits until the table's own is
 * not busy with it. From then on both lock it.
 */
SKELGEN_INLINE bool skelgen_requests_enter(struct skelgen_requests *table)
{
	__atomic_store_n(&table->busy, true, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* membarrier() makes it one of the processor's */
	if (likely(!__atomic_load_n(&table->shared, __ATOMIC_RELAXED)))
		return true;
	skelgen_requests_leave(table);
	return false;
}

SKELGEN_INLINE void skelgen_watch(int more)
{
	if (unlikely(skelgen.multiple))
		__atomic_fetch_add(&skelgen_watched, (uint64_t)more, __ATOMIC_RELAXED);
	else
		skelgen_watched += (uint64_t)more;
}

/* A call that ended at `end` made a request: number it. */
SKELGEN_INLINE void skelgen_request_created(struct skelgen_stream *s, uint64_t handle,
					    unsigned flags, uint64_t end)
{
	struct skelgen_requests *table = &s->made;
	size_t place = (s->requests + 1) % SKELGEN_RECENT;
	uint64_t bit = (uint64_t)1 << place;

	if (unlikely(flags & ~(unsigned)SKELGEN_REQUEST_WATCHED || !skelgen_requests_enter(table) ||
		     table->live & bit || skelgen.paused ||
		     handle == (uint64_t)(uintptr_t)mpi.request_null)) {
		skelgen_requests_leave(table);
		skelgen_request_other(s, handle, flags, end);
		return;
	}
	s->requests++;
	table->recent[place].handle = handle;
	table->recent[place].made = end;
	table->live |= bit;
	if (unlikely(flags)) {
		table->watched |= bit;
		skelgen_watch(1);
	}
	skelgen_requests_leave(table);
}

/* The reference of one request that is complete, mostly the one that the predicted event names. */
SKELGEN_INLINE uint64_t skelgen_completed_one(struct skelgen_stream *s, uint64_t handle,
					      const MPI_Status *status)
{
	struct skelgen_requests *table = &s->made;
	uint64_t predicted = s->predicted->reference;
	uint64_t age = predicted >> 2;
	size_t place = (s->requests + 1 - age) % SKELGEN_RECENT;
	uint64_t bit = (uint64_t)1 << place;

	if (unlikely((predicted & 3) != SKELGEN_REF_AGE || age > SKELGEN_RECENT || skelgen.paused ||
		     !skelgen_requests_enter(table) || !(table->live & bit) ||
		     table->recent[place].handle != handle)) {
		skelgen_requests_leave(table);
		return skelgen_completed_other(s, handle, status);
	}
	table->live &= ~bit;
	if (unlikely(table->watched & bit)) {
		s->age_count = 0;
		skelgen_look(s, bit, status);
	}
	skelgen_requests_leave(table);
	return predicted;
}

#endif
