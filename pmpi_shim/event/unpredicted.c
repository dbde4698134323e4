/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that were not predicted though their shapes are known: calls that come in no order, with
 * peers, tags, sizes and requests that never repeat. Nothing here waits for a branch that a
 * processor cannot guess.
 */
#include "event/unpredicted.h"

#include "base/clock.h"
#include "encode/varint.h"
#include "event/clock_record.h"
#include "intern/prediction.h"
#include "intern/shape.h"

/* Whether peers, tags or requests are others than those of the last event of a shape. */
SKELGEN_INLINE bool values_differ(const struct skelgen_shape *shape,
				  const struct skelgen_call *call)
{
	return shape->varies && ((skelgen_eight(&shape->peer) ^ skelgen_eight(&call->peer)) |
				 (skelgen_eight(&shape->peer2) ^ skelgen_eight(&call->peer2)) |
				 (shape->reference ^ call->reference)) != 0;
}

/* Write them; the next event of the shape is compared with these. */
SKELGEN_INLINE uint8_t *put_values(uint8_t *p, struct skelgen_shape *shape,
				   const struct skelgen_call *call)
{
	if (shape->varies & SKELGEN_SHAPE_VARIES_PEER)
		p = skelgen_put_small_zigzag(p, (int64_t)call->peer - shape->peer);
	if (shape->varies & SKELGEN_SHAPE_VARIES_TAG)
		p = skelgen_put_short_zigzag(p, (int64_t)call->tag - shape->tag);
	if (shape->varies & SKELGEN_SHAPE_VARIES_PEER2)
		p = skelgen_put_small_zigzag(p, (int64_t)call->peer2 - shape->peer2);
	if (shape->varies & SKELGEN_SHAPE_VARIES_TAG2)
		p = skelgen_put_short_zigzag(p, (int64_t)call->tag2 - shape->tag2);
	if (shape->varies & SKELGEN_SHAPE_VARIES_LIST)
		p = skelgen_put_short_varint(p, call->reference);
	shape->peer = call->peer;
	shape->tag = call->tag;
	shape->peer2 = call->peer2;
	shape->tag2 = call->tag2;
	shape->reference = call->reference;
	return p;
}

/*
 * Find counts among the latest of a shape: perhaps they repeat with another period. All of the
 * history is compared, because a processor cannot guess where it will end.
 */
static void search_history(struct skelgen_shape *shape, int64_t a, int64_t b)
{
	unsigned equal = 0;

	for (unsigned i = 0; i < SKELGEN_COUNT_HISTORY; i++)
		equal |= (unsigned)!((shape->history[i].a ^ a) | (shape->history[i].b ^ b)) << i;
	if (equal) {
		/* The newest becomes the highest of the bits. */
		equal = (equal | equal << SKELGEN_COUNT_HISTORY) >> (shape->newest + 1);
		equal &= (1u << SKELGEN_COUNT_HISTORY) - 1;
		shape->lag = (uint8_t)(SKELGEN_COUNT_HISTORY - (31 - __builtin_clz(equal)));
	}
}

/* Note counts that were not predicted. They are searched for only where a digest equals theirs. */
SKELGEN_INLINE void count_miss(struct skelgen_shape *shape, int64_t a, int64_t b)
{
	uint64_t differ = shape->digests ^ skelgen_digest(a, b) * SKELGEN_EACH_DIGEST;

	/* A byte of it is 0. */
	if (unlikely((differ - SKELGEN_EACH_DIGEST) & ~differ & 0x80 * SKELGEN_EACH_DIGEST))
		search_history(shape, a, b);
	shape->turning = SKELGEN_COUNT_HISTORY;
	skelgen_turn(shape, a, b);
}

void skelgen_count_miss(struct skelgen_shape *shape, int64_t a, int64_t b)
{
	count_miss(shape, a, b);
}

/* Write how far the counts are from the predicted ones, if they are, and predict the next. */
SKELGEN_INLINE uint8_t *put_counts(uint8_t *p, struct skelgen_shape *shape,
				   const struct skelgen_call *call, unsigned *tag)
{
	int64_t delta_a = 0;
	int64_t delta_b = 0;

	if (call->flags & SKELGEN_SHAPE_HAS_A)
		delta_a = call->count_a - shape->count_a;
	if (call->flags & SKELGEN_SHAPE_HAS_B)
		delta_b = call->count_b - shape->count_b;
	if (delta_a | delta_b) {
		*tag |= SKELGEN_EVENT_COUNT;
		if (call->flags & SKELGEN_SHAPE_HAS_A)
			p = skelgen_put_short_zigzag(p, delta_a);
		if (call->flags & SKELGEN_SHAPE_HAS_B)
			p = skelgen_put_short_zigzag(p, delta_b);
		count_miss(shape, call->count_a, call->count_b);
	} else if (shape->turning) {
		skelgen_turn(shape, shape->count_a, shape->count_b);
	}
	return p;
}

bool skelgen_values_differ(const struct skelgen_shape *shape, const struct skelgen_call *call)
{
	return values_differ(shape, call);
}

uint8_t *skelgen_put_values(uint8_t *p, struct skelgen_shape *shape,
			    const struct skelgen_call *call)
{
	return put_values(p, shape, call);
}

uint8_t *skelgen_put_counts(uint8_t *p, struct skelgen_shape *shape,
			    const struct skelgen_call *call, unsigned *tag)
{
	return put_counts(p, shape, call, tag);
}

/* An event of a shape that is known, with nothing out of the ordinary. */
static void write_known(struct skelgen_stream *s, struct skelgen_shape *shape,
			const struct skelgen_call *call, uint64_t begin, uint64_t end)
{
	unsigned tag = SKELGEN_REC_EVENT;
	uint8_t *record = s->write;
	uint8_t *p = skelgen_put_times(record + 1, (uint32_t)(begin - s->last_end),
				       (uint32_t)(end - begin), &tag);

	if (s->predicted != shape) {
		tag |= SKELGEN_EVENT_SHAPE;
		p = skelgen_put_small_varint(p, shape->id);
	}
	p = put_counts(p, shape, call, &tag);
	if (values_differ(shape, call)) {
		tag |= SKELGEN_EVENT_EXTRAS;
		*p++ = SKELGEN_EXTRA_VALUES;
		p = put_values(p, shape, call);
	}
	skelgen_commit(record, (uint8_t)tag);
	s->write = p;
	s->last_end = end;
	s->events++;
	skelgen_predict(s, shape);
	if (unlikely(p > s->limit))
		skelgen_grow(s);
}

/* Append an event of a call that is no predicted one; false: it takes the general way. */
bool skelgen_event_known(struct skelgen_stream *s, const struct skelgen_call *call, uint64_t begin,
			 uint64_t end)
{
	struct skelgen_shape *shape;

	if (unlikely((s->special | skelgen.paused | (call->flags & SKELGEN_SHAPE_NOT_READY)) ||
		     end - begin > skelgen.long_gap))
		return false;
	shape = skelgen_shape_known(s, call);
	if (unlikely(!shape))
		return false;
	write_known(s, shape, call, begin, end);
	return true;
}
