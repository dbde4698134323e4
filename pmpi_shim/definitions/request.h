/* SPDX-License-Identifier: BSD-3-Clause */
/* From request handles to request numbers. */
#ifndef SKELGEN_REQUEST_H
#define SKELGEN_REQUEST_H

#include "definitions/request_table.h"

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
