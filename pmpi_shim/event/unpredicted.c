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

/* What may vary in a shape: peer and tag, those of a receive, requests. */
struct values {
	uint64_t peers;
	uint64_t peers2;
	uint64_t reference;
};

SKELGEN_INLINE struct values values_of(const struct skelgen_call *call)
{
	return (struct values){
		.peers = skelgen_eight(&call->peer),
		.peers2 = skelgen_eight(&call->peer2),
		.reference = call->reference,
	};
}

/* Whether they are others than those of the last event of a shape. */
SKELGEN_INLINE bool values_changed(const struct skelgen_shape *shape, struct values values)
{
	return shape->varies && ((skelgen_eight(&shape->peer) ^ values.peers) |
				 (skelgen_eight(&shape->peer2) ^ values.peers2) |
				 (shape->reference ^ values.reference)) != 0;
}

/* Write them; the next event of the shape is compared with these. */
SKELGEN_INLINE uint8_t *put_values(uint8_t *p, struct skelgen_shape *shape, struct values values)
{
	uint32_t varies = shape->varies;
	int32_t peer = shape->peer;
	int32_t tag = shape->tag;
	int32_t peer2 = shape->peer2;
	int32_t tag2 = shape->tag2;

	skelgen_split(values.peers, &shape->peer, &shape->tag);
	skelgen_split(values.peers2, &shape->peer2, &shape->tag2);
	shape->reference = values.reference;
	if (varies & SKELGEN_SHAPE_VARIES_PEER)
		p = skelgen_put_small_zigzag(p, (int64_t)shape->peer - peer);
	if (varies & SKELGEN_SHAPE_VARIES_TAG)
		p = skelgen_put_short_zigzag(p, (int64_t)shape->tag - tag);
	if (varies & SKELGEN_SHAPE_VARIES_PEER2)
		p = skelgen_put_small_zigzag(p, (int64_t)shape->peer2 - peer2);
	if (varies & SKELGEN_SHAPE_VARIES_TAG2)
		p = skelgen_put_short_zigzag(p, (int64_t)shape->tag2 - tag2);
	if (varies & SKELGEN_SHAPE_VARIES_LIST)
		p = skelgen_put_short_varint(p, values.reference);
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
SKELGEN_INLINE uint8_t *put_counts(uint8_t *p, struct skelgen_shape *shape, int64_t a, int64_t b,
				   unsigned *tag)
{
	uint32_t flags = shape->flags;
	int64_t delta_a = flags & SKELGEN_SHAPE_HAS_A ? a - shape->count_a : 0;
	int64_t delta_b = flags & SKELGEN_SHAPE_HAS_B ? b - shape->count_b : 0;

	if (delta_a | delta_b) {
		*tag |= SKELGEN_EVENT_COUNT;
		if (flags & SKELGEN_SHAPE_HAS_A)
			p = skelgen_put_short_zigzag(p, delta_a);
		if (flags & SKELGEN_SHAPE_HAS_B)
			p = skelgen_put_short_zigzag(p, delta_b);
		count_miss(shape, a, b);
	} else if (shape->turning) {
		skelgen_turn(shape, shape->count_a, shape->count_b);
	}
	return p;
}

bool skelgen_values_changed(const struct skelgen_shape *shape, const struct skelgen_call *call)
{
	return values_changed(shape, values_of(call));
}

uint8_t *skelgen_put_values(uint8_t *p, struct skelgen_shape *shape,
			    const struct skelgen_call *call)
{
	return put_values(p, shape, values_of(call));
}

uint8_t *skelgen_put_counts(uint8_t *p, struct skelgen_shape *shape,
			    const struct skelgen_call *call, unsigned *tag)
{
	return put_counts(p, shape, call->count_a, call->count_b, tag);
}

/* An event of a shape that is known, with nothing out of the ordinary. */
SKELGEN_INLINE void write_known(struct skelgen_stream *s, struct skelgen_shape *shape,
				struct values values, const int64_t counts[2], uint64_t begin,
				uint64_t end)
{
	unsigned tag = SKELGEN_REC_EVENT;
	uint8_t *record = s->write;
	uint8_t *p = skelgen_put_times(record + 1, (uint32_t)(begin - s->last_end),
				       (uint32_t)(end - begin), &tag);

	if (s->predicted != shape)
		p = skelgen_put_shape(p, s, shape, &tag);
	p = put_counts(p, shape, counts[0], counts[1], &tag);
	if (values_changed(shape, values)) {
		tag |= SKELGEN_EVENT_EXTRAS;
		*p++ = SKELGEN_EXTRA_VALUES;
		p = put_values(p, shape, values);
	}
	skelgen_commit(record, (uint8_t)tag);
	s->write = p;
	s->last_end = end;
	s->events++;
	if (s->order.none)
		skelgen_learn_unlinked(s, shape);
	else
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
	write_known(s, shape, values_of(call), (const int64_t[2]){call->count_a, call->count_b},
		    begin, end);
	return true;
}

/* The same where the shape was known before the call. */
void skelgen_write_taken(struct skelgen_stream *s, int64_t count_a, int64_t count_b, uint64_t begin,
			 uint64_t end)
{
	struct skelgen_shape *shape = s->predicted;
	struct values values = {s->taken.peers, s->taken.peers2, shape->reference};

	skelgen_untake(s);
	write_known(s, shape, values, (const int64_t[2]){count_a, count_b}, begin, end);
}
