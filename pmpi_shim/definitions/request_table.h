/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that are not complete, by handle. */
#ifndef SKELGEN_REQUEST_TABLE_H
#define SKELGEN_REQUEST_TABLE_H

#include "base/mpi_library.h"

enum skelgen_request_flags {
	SKELGEN_REQUEST_WATCHED = 1, /* its status holds what we do not know yet */
	SKELGEN_REQUEST_PERSISTENT = 2,
	SKELGEN_REQUEST_CANCELLED = 4,
	SKELGEN_REQUEST_PROMISE = 8, /* its completion makes a communicator */
};
#define SKELGEN_REQUEST_LIVE 0x100u /* beside these: there is a request */

struct skelgen_request {
	uint64_t number; /* request, or persistent request; 0: made while recording paused */
	uint64_t active; /* of a persistent one: the request that its last start made, or 0 */
	uint64_t made;   /* when [units] */
	uint32_t next;   /* with the same handle, of those that stand in `more` */
	uint32_t flags;  /* SKELGEN_REQUEST_LIVE, enum skelgen_request_flags; 0: no request */
};

/* Handles whose requests are all complete keep their place until room is short. */
struct skelgen_queue {
	uint64_t handle;               /* 0: free; handles are never 0 */
	struct skelgen_request oldest; /* without flags its `next` is NONE */
	uint32_t newest;               /* of those in `more` */
};

extern uint64_t skelgen_watched; /* outstanding requests whose status we want to see */

bool skelgen_requests_open(struct skelgen_requests *table);
bool skelgen_requests_none(struct skelgen_requests *table);
bool skelgen_requests_active(const struct skelgen_requests *table);
void skelgen_requests_close(struct skelgen_requests *table);
void skelgen_request_other(struct skelgen_stream *s, uint64_t handle, unsigned flags, uint64_t end);
struct skelgen_stream *skelgen_lock_queue(struct skelgen_stream *s, uint64_t handle,
					  struct skelgen_queue **queue);
void skelgen_unlock_table(struct skelgen_requests *table, bool own);
void skelgen_remove_oldest(struct skelgen_requests *table, struct skelgen_queue *queue);

SKELGEN_INLINE bool skelgen_watching(void)
{
	return __atomic_load_n(&skelgen_watched, __ATOMIC_RELAXED) != 0;
}

/* Requests whose completion has to look at the status. */
SKELGEN_INLINE bool skelgen_is_watched(unsigned flags)
{
	return flags &
	       (SKELGEN_REQUEST_WATCHED | SKELGEN_REQUEST_PROMISE | SKELGEN_REQUEST_CANCELLED);
}

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

#endif
