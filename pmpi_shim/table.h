/* SPDX-License-Identifier: BSD-3-Clause */
/* What request.c and table.c share. */
#ifndef SKELGEN_TABLE_H
#define SKELGEN_TABLE_H

#include "recorder.h"

#define LIVE 0x100u /* beside enum skelgen_request_flags: there is a request */

struct skelgen_request {
	uint64_t number; /* request, or persistent request; 0: made while recording paused */
	uint64_t active; /* of a persistent one: the request that its last start made, or 0 */
	uint64_t made;   /* when [units] */
	uint32_t next;   /* with the same handle, of those that stand in `more` */
	uint32_t flags;  /* LIVE, enum skelgen_request_flags; 0: no request */
};

/* Handles whose requests are all complete keep their place until room is short. */
struct skelgen_queue {
	uint64_t handle;               /* 0: free; handles are never 0 */
	struct skelgen_request oldest; /* without flags its `next` is NONE */
	uint32_t newest;               /* of those in `more` */
};

/* Requests whose completion has to look at the status. */
SKELGEN_INLINE bool skelgen_is_watched(unsigned flags)
{
	return flags &
	       (SKELGEN_REQUEST_WATCHED | SKELGEN_REQUEST_PROMISE | SKELGEN_REQUEST_CANCELLED);
}

struct skelgen_stream *skelgen_lock_queue(struct skelgen_stream *s, uint64_t handle,
					  struct skelgen_queue **queue);
void skelgen_unlock_table(struct skelgen_requests *table, bool own);
void skelgen_remove_oldest(struct skelgen_requests *table, struct skelgen_queue *queue);

#endif
