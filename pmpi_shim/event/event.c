/* SPDX-License-Identifier: BSD-3-Clause */
/* Events out of the ordinary, runs of failed polls. */
#include "event/event.h"

#include "base/mpi_library.h"
#include "encode/mapped_file.h"
#include "event/clock_record.h"
#include "event/failed_polls.h"
#include "event/run_queue.h"
#include "event/touched_memory.h"
#include "event/unpredicted.h"
#include "intern/call_site.h"

#include <limits.h>

/* An event with everything but lists of statuses and foreign requests fits into this. */
#define LONGEST_EVENT 200

/* The call returned an error: its class goes into the event. */
uint32_t skelgen_failed(struct skelgen_stream *s, int code)
{
	int class = 0;

	pmpi.Error_class(code, &class);
	s->error = (uint32_t)class;
	s->special |= SKELGEN_SPECIAL_ERROR;
	return SKELGEN_SHAPE_FAILED;
}

void skelgen_object(struct skelgen_stream *s, uint32_t id)
{
	s->object = id;
	s->special |= SKELGEN_SPECIAL_OBJECT;
}

/* What one event carries beside its shape, counts and times. */
struct extras {
	uint64_t gap;
	uint64_t duration;
	uint64_t overhead;
	uint64_t lost_us;
	uint64_t queued_us;
	uint64_t polls;
	uint64_t inside;
	bool plain; /* a poll: statuses and the like belong to a later event */
};

static unsigned extra_bits(const struct skelgen_stream *s, const struct extras *x, bool values,
			   bool vectors)
{
	unsigned bits = 0;

	if ((x->gap | x->duration) >> 32)
		bits |= SKELGEN_EXTRA_LONG;
	if (x->overhead)
		bits |= SKELGEN_EXTRA_OVERHEAD;
	if (x->lost_us)
		bits |= SKELGEN_EXTRA_LOST;
	if (values)
		bits |= SKELGEN_EXTRA_VALUES;
	if (vectors)
		bits |= SKELGEN_EXTRA_VECTORS;
	if (x->polls > 1)
		bits |= SKELGEN_EXTRA_REPEAT;
	if (x->plain)
		return bits;
	if (s->special & SKELGEN_SPECIAL_STATUS)
		bits |= SKELGEN_EXTRA_STATUS;
	if (s->special & SKELGEN_SPECIAL_OBJECT)
		bits |= SKELGEN_EXTRA_OBJECT;
	if (s->special & SKELGEN_SPECIAL_ERROR)
		bits |= SKELGEN_EXTRA_ERROR;
	if (s->special & SKELGEN_SPECIAL_FOREIGN)
		bits |= SKELGEN_EXTRA_FOREIGN;
	return bits;
}

static uint8_t *put_statuses(uint8_t *p, const struct skelgen_stream *s)
{
	p = skelgen_put_varint(p, s->status_count);
	for (size_t i = 0; i < s->status_count; i++) {
		p = skelgen_put_varint(p, s->statuses[i].position);
		p = skelgen_put_zigzag(p, s->statuses[i].source);
		p = skelgen_put_zigzag(p, s->statuses[i].tag);
	}
	return p;
}

/* The extras of an event of the fast path that has a few statuses and nothing else. */
uint8_t *skelgen_status_extras(uint8_t *p, struct skelgen_stream *s)
{
	p = put_statuses(skelgen_put_varint(p, SKELGEN_EXTRA_STATUS), s);
	s->status_count = 0;
	s->special = 0;
	return p;
}

static uint8_t *put_extras(uint8_t *p, const struct skelgen_stream *s, const struct extras *x,
			   unsigned bits, struct skelgen_shape *shape,
			   const struct skelgen_call *call)
{
	p = skelgen_put_varint(p, bits);
	if (bits & SKELGEN_EXTRA_LONG) {
		p = skelgen_put_varint(p, x->gap >> 32);
		p = skelgen_put_varint(p, x->duration >> 32);
	}
	if (bits & SKELGEN_EXTRA_OVERHEAD)
		p = skelgen_put_varint(p, x->overhead);
	if (bits & SKELGEN_EXTRA_LOST)
		p = skelgen_put_varint(p, x->lost_us);
	if (bits & SKELGEN_EXTRA_VALUES)
		p = skelgen_put_values(p, shape, call);
	if (bits & SKELGEN_EXTRA_VECTORS) {
		if (call->flags & SKELGEN_SHAPE_VECTOR_A)
			p = skelgen_put_varint(p, call->vector_a);
		if (call->flags & SKELGEN_SHAPE_VECTOR_B)
			p = skelgen_put_varint(p, call->vector_b);
		shape->vector_a = call->vector_a;
		shape->vector_b = call->vector_b;
	}
	if (bits & SKELGEN_EXTRA_STATUS)
		p = put_statuses(p, s);
	if (bits & SKELGEN_EXTRA_REPEAT) {
		p = skelgen_put_varint(p, x->polls);
		p = skelgen_put_varint(p, x->inside);
	}
	if (bits & SKELGEN_EXTRA_OBJECT)
		p = skelgen_put_varint(p, s->object);
	if (bits & SKELGEN_EXTRA_ERROR)
		p = skelgen_put_varint(p, s->error);
	if (bits & SKELGEN_EXTRA_FOREIGN) {
		p = skelgen_put_varint(p, s->foreign_count);
		for (size_t i = 0; i < s->foreign_count; i++) {
			p = skelgen_put_varint(p, s->foreign[i].thread);
			p = skelgen_put_varint(p, s->foreign[i].number);
		}
	}
	return p;
}

static void clear_extras(struct skelgen_stream *s)
{
	s->status_count = 0;
	s->foreign_count = 0;
	s->special &= ~(uint64_t)(SKELGEN_SPECIAL_STATUS | SKELGEN_SPECIAL_STATUSES |
				  SKELGEN_SPECIAL_OBJECT | SKELGEN_SPECIAL_ERROR |
				  SKELGEN_SPECIAL_FOREIGN);
}

/* Write one event; its shape is defined. */
static void emit(struct skelgen_stream *s, struct skelgen_shape *shape,
		 const struct skelgen_call *call, const struct extras *x)
{
	unsigned tag = SKELGEN_REC_EVENT;
	unsigned bits;
	uint8_t *record;
	uint8_t *p;
	bool vectors =
		(call->flags & SKELGEN_SHAPE_VECTOR_A && call->vector_a != shape->vector_a) ||
		(call->flags & SKELGEN_SHAPE_VECTOR_B && call->vector_b != shape->vector_b);

	skelgen_untake(s);
	if (x->lost_us)
		skelgen_load_put(s, x->queued_us);
	if (!skelgen_reserve(s, LONGEST_EVENT + 20 * (s->status_count + s->foreign_count)))
		return;
	record = s->write;
	p = skelgen_put_times(record + 1, (uint32_t)x->gap, (uint32_t)x->duration, &tag);
	if (s->predicted != shape)
		p = skelgen_put_shape(p, s, shape, &tag);
	p = skelgen_put_counts(p, shape, call, &tag);
	bits = extra_bits(s, x, skelgen_values_changed(shape, call), vectors);
	if (bits) {
		tag |= SKELGEN_EVENT_EXTRAS;
		p = put_extras(p, s, x, bits, shape, call);
	}
	s->write = p;
	s->events++;
	skelgen_commit(record, (uint8_t)tag);
	skelgen_predict(s, shape);
}

/* The call's shape; what it costs to define it counts as overhead of the next gap. */
static struct skelgen_shape *shape_of(struct skelgen_stream *s, const struct skelgen_call *call)
{
	if (likely(skelgen_matches(s->predicted, *call, UINT_MAX)))
		return s->predicted;
	return skelgen_shape_of(s, call);
}

/* Take over what the recorder spent since the last event and the sample at the begin. */
static struct extras collect(struct skelgen_stream *s, uint64_t begin, uint64_t end)
{
	struct extras x = {
		.gap = begin - s->last_end,
		.duration = end - begin,
		.overhead = s->overhead,
		.lost_us = s->special & SKELGEN_SPECIAL_LOST ? s->lost_us : 0,
		.queued_us = s->load.gap_us,
	};

	s->overhead = 0;
	s->special &=
		~(uint64_t)(SKELGEN_SPECIAL_OVERHEAD | SKELGEN_SPECIAL_LOST | SKELGEN_SPECIAL_LONG);
	return x;
}

static void write_polls(struct skelgen_stream *s, const struct skelgen_poll *poll)
{
	struct extras x = {
		.gap = poll->begin - poll->previous_end,
		.duration = poll->end - poll->begin,
		.overhead = poll->overhead,
		.lost_us = poll->lost_us,
		.queued_us = poll->queued_us,
		.polls = poll->count,
		.inside = poll->inside,
		.plain = true,
	};

	if (poll->shape)
		emit(s, poll->shape, &poll->call, &x);
}

/* Write the failed polls that were held back, without a look at what they name. */
void skelgen_flush_poll(struct skelgen_stream *s)
{
	struct skelgen_poll held[SKELGEN_POLLS_IN_TURN];
	size_t count = skelgen_take_polls(s, held);

	for (size_t i = 0; i < count; i++)
		write_polls(s, &held[i]);
}

/*
 * Hold back a failed poll: as long as it repeats, also in turn with others, it stays one record.
 * Its shape is defined now: when the record is written its communicator may be freed, or MPI
 * closed.
 */
static void first_poll(struct skelgen_stream *s, const struct skelgen_call *call, uint64_t begin,
		       uint64_t end)
{
	bool joins = skelgen_poll_joins(s, begin);
	struct extras x = collect(s, begin, end);
	struct skelgen_shape *shape;

	if (!joins)
		skelgen_flush_poll(s);
	shape = shape_of(s, call);
	s->overhead = 0; /* what its definition took counts as polling */
	s->special &= ~(uint64_t)SKELGEN_SPECIAL_OVERHEAD;
	s->poll = (struct skelgen_poll){
		.call = *call,
		.shape = shape,
		.previous_end = s->last_end,
		.begin = begin,
		.end = end,
		.inside = end - begin,
		.count = 1,
		.overhead = x.overhead,
		.lost_us = x.lost_us,
		.queued_us = x.queued_us,
	};
	s->special |= SKELGEN_SPECIAL_POLL;
	s->last_end = end;
	clear_extras(s);
}

/* Let the call site tell what called it; return how long that took [units]. */
static uint64_t deepen(struct skelgen_stream *s, struct skelgen_call *call)
{
	uint64_t begin = skelgen_now();

	call->site = skelgen_site_deepen(s, call->site);
	return skelgen_now() - begin;
}

/* Append an event that the fast path does not write. */
SKELGEN_COLD void skelgen_event_general(struct skelgen_stream *s, const struct skelgen_call *call,
					uint64_t begin, uint64_t end)
{
	struct skelgen_shape *shape;
	struct skelgen_call deep;
	struct extras x;
	uint64_t walk = 0;

	if (s->stopped) {
		s->last_end = end;
		clear_extras(s);
		return;
	}
	if (skelgen.paused) {
		s->unrecorded++;
		clear_extras(s);
		return;
	}
	if (skelgen.callstack > 1) {
		deep = *call;
		walk = deepen(s, &deep);
		call = &deep;
	}
	if (call->flags & SKELGEN_SHAPE_NOT_READY) {
		if (!skelgen_poll_again(s, call, begin, end) &&
		    !skelgen_poll_in_turn(s, call, begin, end))
			first_poll(s, call, begin, end);
		return;
	}
	x = collect(s, begin, end);
	if (x.duration > skelgen.long_gap) {
		if (skelgen.sampling) {
			skelgen_sample(s); /* what the call waited is no loss of the next gap */
			end = skelgen_now();
			x.duration = end - begin;
			walk = 0; /* the call's duration has it */
		}
		s->queries.inside += x.duration;
	}
	skelgen_flush_poll(s);
	if (walk) {
		s->overhead += walk;
		s->special |= SKELGEN_SPECIAL_OVERHEAD;
	}
	shape = shape_of(s, call);
	if (shape)
		emit(s, shape, call, &x);
	s->last_end = end;
	clear_extras(s);
	if (s->touched.wanted)
		skelgen_touched_mark(s);
	if (s->write > s->limit && !s->stopped)
		skelgen_grow(s);
}

/* What was foreseen of a call was right, but it failed, took long, or something else happened. */
void skelgen_event_unforeseen(struct skelgen_stream *s, int code, uint32_t function,
			      const int64_t counts[2], uint64_t reference, uint64_t begin,
			      uint64_t end)
{
	const struct skelgen_shape *shape = s->predicted;
	struct skelgen_call call = {
		.site = shape->site,
		.comm = shape->comm,
		.type_a = shape->type_a,
		.type_b = shape->type_b,
		.op = shape->op,
		.reference = reference,
		.function = function, /* a handle of the shape may have been freed meanwhile */
		.flags = shape->flags,
		.peer = shape->peer,
		.tag = shape->tag,
		.peer2 = shape->peer2,
		.tag2 = shape->tag2,
		.count_a = counts[0],
		.count_b = counts[1],
	};

	if (s->special & SKELGEN_SPECIAL_TAKEN) {
		skelgen_split(s->taken.peers, &call.peer, &call.tag);
		skelgen_split(s->taken.peers2, &call.peer2, &call.tag2);
		skelgen_untake(s);
	}
	if (code != MPI_SUCCESS) {
		call.flags &= ~(uint32_t)(SKELGEN_SHAPE_CREATES | SKELGEN_SHAPE_PERSISTENT);
		call.flags |= skelgen_failed(s, code);
	}
	skelgen_event_unpredicted(s, &call, begin, end);
	skelgen_end(s);
}

/* A wrapper whose stream has stopped ends: its thread may be one that is measured (phases/). */
SKELGEN_COLD void skelgen_leave_stopped(void)
{
	if (skelgen_place == SKELGEN_INSIDE)
		skelgen_place = SKELGEN_OUTSIDE;
}
