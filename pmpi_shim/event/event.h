/* SPDX-License-Identifier: BSD-3-Clause */
/* What every recorded call runs through. */
#ifndef SKELGEN_EVENT_H
#define SKELGEN_EVENT_H

#include "base/clock.h"
#include "encode/varint.h"
#include "event/clock_record.h"
#include "event/cpu_sample.h"
#include "event/unpredicted.h"
#include "intern/prediction.h"
#include "intern/shape.h"

void skelgen_event_general(struct skelgen_stream *s, const struct skelgen_call *call,
			   uint64_t begin, uint64_t end);
void skelgen_event_unforeseen(struct skelgen_stream *s, int code, uint32_t function,
			      const int64_t counts[2], uint64_t reference, uint64_t begin,
			      uint64_t end);
void skelgen_flush_poll(struct skelgen_stream *s);
uint8_t *skelgen_status_extras(uint8_t *p, struct skelgen_stream *s);
uint32_t skelgen_failed(struct skelgen_stream *s, int code);
void skelgen_object(struct skelgen_stream *s, uint32_t id);
void skelgen_leave_stopped(void);

/* Append an event of a call that is not the predicted one. */
SKELGEN_INLINE void skelgen_event_unpredicted(struct skelgen_stream *s,
					      const struct skelgen_call *call, uint64_t begin,
					      uint64_t end)
{
	if (unlikely(!skelgen_event_known(s, call, begin, end)))
		skelgen_event_general(s, call, begin, end);
}

SKELGEN_INLINE void skelgen_end(struct skelgen_stream *s)
{
	if (likely(!s->stopped))
		skelgen_current = s;
	else
		skelgen_leave_stopped();
}

SKELGEN_INLINE int32_t skelgen_peer(int rank)
{
	if (likely(rank >= 0))
		return rank;
	if (rank == MPI_PROC_NULL)
		return SKELGEN_PROC_NULL;
	if (rank == MPI_ANY_SOURCE)
		return SKELGEN_ANY_SOURCE;
	return rank == MPI_ROOT ? SKELGEN_ROOT : SKELGEN_NO_PEER;
}

SKELGEN_INLINE int32_t skelgen_tag(int tag)
{
	if (likely(tag >= 0))
		return tag;
	return tag == MPI_ANY_TAG ? SKELGEN_ANY_TAG : SKELGEN_NO_TAG;
}

/* Write the record of the predicted shape; its counts may be others. */
SKELGEN_INLINE void skelgen_write(struct skelgen_stream *s, int64_t count_a, int64_t count_b,
				  unsigned uses, uint64_t begin, uint64_t end)
{
	struct skelgen_shape *shape = s->predicted;
	unsigned tag = SKELGEN_REC_EVENT;
	uint8_t *record = s->write;
	uint8_t *p = skelgen_put_times(record + 1, (uint32_t)(begin - s->last_end),
				       (uint32_t)(end - begin), &tag);
	/* The sides that a function lacks have counts of 0 in shapes and calls. */
	int64_t delta_a = 0;
	int64_t delta_b = 0;

	if (uses & (SKELGEN_USES_A | SKELGEN_USES_COUNT_A))
		delta_a = count_a - shape->count_a;
	if (uses & SKELGEN_USES_B)
		delta_b = count_b - shape->count_b;
	if (uses & (SKELGEN_USES_A | SKELGEN_USES_COUNT_A | SKELGEN_USES_B)) {
		if (unlikely(delta_a | delta_b)) {
			tag |= SKELGEN_EVENT_COUNT;
			if (shape->flags & SKELGEN_SHAPE_HAS_A)
				p = skelgen_put_zigzag(p, delta_a);
			if (shape->flags & SKELGEN_SHAPE_HAS_B)
				p = skelgen_put_zigzag(p, delta_b);
			skelgen_count_miss(shape, count_a, count_b);
		} else if (unlikely(shape->turning)) {
			skelgen_turn(shape, count_a, count_b);
		}
	}
	if (uses & SKELGEN_USES_REFERENCE && unlikely(s->special)) {
		tag |= SKELGEN_EVENT_EXTRAS;
		p = skelgen_status_extras(p, s);
	}
	skelgen_commit(record, (uint8_t)tag);
	s->write = p;
	s->last_end = end;
	s->events++;
	skelgen_predict(s, shape);
	if (unlikely(p > s->limit))
		skelgen_grow(s);
}

/* Whether something keeps an event from being written the short way, beside its call. */
SKELGEN_INLINE bool skelgen_is_special(const struct skelgen_stream *s, unsigned uses,
				       uint64_t duration)
{
	uint64_t special = s->special | skelgen.paused;

	return duration > skelgen.long_gap ||
	       (special && !(uses & SKELGEN_USES_REFERENCE && special == SKELGEN_SPECIAL_STATUS));
}

/*
 * Append an event. The predicted shape without extras takes the short way; `uses` is a constant,
 * so that only the fields which the function has are compared.
 */
SKELGEN_INLINE void skelgen_event(struct skelgen_stream *s, struct skelgen_call call, unsigned uses,
				  uint64_t begin, uint64_t end)
{
	if (unlikely(!skelgen_matches(s->predicted, call, uses) ||
		     skelgen_is_special(s, uses, end - begin))) {
		struct skelgen_call copy = call;

		skelgen_event_unpredicted(s, &copy, begin, end);
		return;
	}
	skelgen_write(s, call.count_a, call.count_b, uses, begin, end);
}

/*
 * Whether a call has the shape, should it succeed, as far as its arguments tell: values that vary
 * may be others, but which message a wildcard finds is not known yet.
 */
SKELGEN_INLINE bool skelgen_fits(const struct skelgen_shape *shape, struct skelgen_call call,
				 unsigned uses)
{
	bool varies = shape->varies &&
		      !(call.flags & (SKELGEN_SHAPE_WILD_SOURCE | SKELGEN_SHAPE_WILD_TAG));

	return !skelgen_base_differs(shape, call, uses) &&
	       (varies || !skelgen_values_differ(shape, call, uses));
}

/* The call that begins is taken for a shape that is not all that was predicted. */
SKELGEN_INLINE void skelgen_take_for(struct skelgen_stream *s, struct skelgen_shape *shape,
				     struct skelgen_call call)
{
	s->taken.instead_of = s->predicted;
	s->taken.peers = skelgen_pair((uint32_t)call.peer, (uint32_t)call.tag);
	s->taken.peers2 = skelgen_pair((uint32_t)call.peer2, (uint32_t)call.tag2);
	s->predicted = shape;
	s->special |= SKELGEN_SPECIAL_TAKEN;
}

/*
 * Whether it is known which shape a call will have, should it succeed, as far as its arguments
 * tell: the predicted one, or the latest of its call site. Calls that complete requests are only
 * taken for the predicted one, which helps to find these.
 */
SKELGEN_INLINE bool skelgen_foreseen(struct skelgen_stream *s, struct skelgen_call call,
				     uint32_t flags, unsigned uses)
{
	struct skelgen_shape *shape = s->predicted;

#if defined(__x86_64__)
	if (unlikely(!skelgen.use_tsc))
		return false;
#endif
	call.flags |= flags;
	if (likely(skelgen_matches(shape, call, uses & ~(unsigned)SKELGEN_USES_REFERENCE)))
		return true;
	if (uses & SKELGEN_USES_REFERENCE)
		return false;
	if (!skelgen_fits(shape, call, uses)) {
		shape = *skelgen_latest_of_site(s, call.site);
		if (unlikely(!skelgen_fits(shape, call, uses)))
			return false;
	}
	skelgen_take_for(s, shape, call);
	return true;
}

/* Whether nothing but that keeps a call from being written the short way. */
SKELGEN_INLINE bool skelgen_is_taken_only(const struct skelgen_stream *s, uint64_t duration)
{
	return (s->special | skelgen.paused) == SKELGEN_SPECIAL_TAKEN &&
	       duration <= skelgen.long_gap;
}

/* Append the event of a foreseen call: the wrapper's last act. */
SKELGEN_INLINE void skelgen_event_foreseen(struct skelgen_stream *s, int code,
					   struct skelgen_call call, unsigned uses, uint64_t begin,
					   uint64_t end)
{
	if (unlikely(
		    code != MPI_SUCCESS || skelgen_is_special(s, uses, end - begin) ||
		    (uses & SKELGEN_USES_REFERENCE && call.reference != s->predicted->reference))) {
		int64_t counts[2] = {call.count_a, call.count_b};

		if (!(uses & SKELGEN_USES_REFERENCE) && code == MPI_SUCCESS &&
		    skelgen_is_taken_only(s, end - begin)) {
			skelgen_current = s;
			skelgen_write_taken(s, call.count_a, call.count_b, begin, end);
			return;
		}
		skelgen_event_unforeseen(s, code, call.function, counts, call.reference, begin,
					 end);
		return;
	}
	skelgen_current = s; /* unless its file ends now */
	skelgen_write(s, call.count_a, call.count_b, uses, begin, end);
}

/* A poll that found nothing, as the one before it: only the count and the time grow. */
SKELGEN_INLINE bool skelgen_poll_again(struct skelgen_stream *s, const struct skelgen_call *call,
				       uint64_t begin, uint64_t end)
{
	struct skelgen_poll *poll = &s->poll;

	if (unlikely((s->special | SKELGEN_SPECIAL_STACK) !=
			     (SKELGEN_SPECIAL_POLL | SKELGEN_SPECIAL_STACK) ||
		     skelgen.paused || begin - poll->end >= skelgen.polling_gap ||
		     memcmp(&poll->call, call, sizeof(*call)) != 0))
		return false;
	poll->count++;
	poll->inside += end - begin;
	poll->end = end;
	s->last_end = end;
	return true;
}

#endif
