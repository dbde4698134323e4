/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which shape follows: the one that followed the last eight shapes the last time, else the one
 * that followed the last two. The reader keeps the same two tables. Where calls come in an order,
 * links between shapes save looking into them.
 */
#include "intern/prediction.h"

#include <stdlib.h>

/* What is predicted where nothing is known. */
const struct skelgen_shape skelgen_no_shape = {
	.function = UINT32_MAX,
	.link.where = SKELGEN_NOWHERE,
};

_Static_assert(SKELGEN_PREDICTIONS <= 1 << 12, "an index takes twelve bits");

/* Links hold for one round each. These are fewer than eight bits have: NOWHERE is in none. */
#define ROUNDS 255
#define ROUND_AT 56
#define BELOW_ROUND (((uint64_t)1 << ROUND_AT) - 1)

/* Calls come in no order when so many were not predicted, and they were every second one. */
#define MISSES 64
#define TOO_MANY_MISSES 2
/* They do again when of so many events in a row no more than so many were not. */
#define EVENTS_JUDGED 64
#define FEW_MISSES 16

/* `where` of a stream after a shape: all that the tables are asked with, in one number. */
SKELGEN_INLINE uint64_t place_after(uint64_t where, uint32_t id)
{
	uint32_t last = (uint32_t)(where >> 44) % SKELGEN_PREDICTIONS;
	uint32_t index = (31 * last + id) % SKELGEN_PREDICTIONS;
	uint32_t context =
		(uint32_t)where << SKELGEN_CONTEXT_SHIFT ^ id * (uint32_t)SKELGEN_CONTEXT_FACTOR;
	uint64_t round = where & ~BELOW_ROUND;

	return round | (uint64_t)(id % SKELGEN_PREDICTIONS) << 44 | (uint64_t)index << 32 | context;
}

/* The parts of it that name an entry: of the table by two shapes, and of that by eight. */
#define BY_TWO ((uint64_t)(SKELGEN_PREDICTIONS - 1) << 32)
#define BY_EIGHT ((uint64_t)0xfff << 20)

static struct skelgen_prediction *short_entry(const struct skelgen_stream *s, uint64_t where)
{
	return &s->predictions[(where >> 32) % SKELGEN_PREDICTIONS];
}

static struct skelgen_long_prediction *long_entry(const struct skelgen_stream *s, uint64_t where)
{
	return &s->long_predictions[(uint32_t)where >> 20];
}

bool skelgen_predictions_open(struct skelgen_stream *s)
{
	s->predictions = calloc(SKELGEN_PREDICTIONS, sizeof(*s->predictions));
	s->long_predictions = calloc(SKELGEN_PREDICTIONS, sizeof(*s->long_predictions));
	if (!s->predictions || !s->long_predictions)
		return false;
	skelgen_predictions_forget(s);
	s->long_predictions[0].context = UINT32_MAX; /* no entry holds for its own index */
	return true;
}

void skelgen_predictions_close(struct skelgen_stream *s)
{
	free(s->predictions);
	free(s->long_predictions);
}

/* The contexts stay, as they do in the reader; their shapes match nothing any more. */
void skelgen_predictions_forget(struct skelgen_stream *s)
{
	memset(s->predictions, 0, SKELGEN_PREDICTIONS * sizeof(*s->predictions));
	for (size_t i = 0; i < SKELGEN_PREDICTIONS; i++)
		s->long_predictions[i].is = (struct skelgen_prediction){0, 0};
	s->predicted = (struct skelgen_shape *)&skelgen_no_shape;
}

/*
 * The entry at `where` takes another shape. The link of the one before must not say any more that
 * it stands here. The link that says what stands here is set right where its event came last, and
 * dropped where only the entry is the same. Those of all other shapes hold on.
 */
SKELGEN_INLINE void put(const struct skelgen_stream *s, struct skelgen_prediction *entry,
			uint64_t table, struct skelgen_shape *shape)
{
	struct skelgen_link *link;

	if (entry->shape) {
		link = &skelgen_shape_at(s, entry->shape)->link;
		if (!((link->where ^ s->where) & table))
			link->where = SKELGEN_NOWHERE;
	}
	entry->shape = shape->place;
	if (!entry->reader)
		return;
	link = &skelgen_shape_at(s, entry->reader)->link;
	if (link->then == s->where)
		link->next = shape;
	else if (!((link->then ^ s->where) & table))
		link->where = SKELGEN_NOWHERE;
}

/* From now on the shape's link says what stands in an entry, and no other's. */
SKELGEN_INLINE void read_by(const struct skelgen_stream *s, struct skelgen_prediction *entry,
			    uint64_t table, const struct skelgen_shape *shape)
{
	struct skelgen_link *link;

	if (entry->reader && entry->reader != shape->place) {
		link = &skelgen_shape_at(s, entry->reader)->link;
		if (!((link->then ^ shape->link.then) & table))
			link->where = SKELGEN_NOWHERE;
	}
	entry->reader = shape->place;
}

/* What the tables say of a place. */
SKELGEN_INLINE struct skelgen_shape *expected(const struct skelgen_stream *s, uint64_t where)
{
	const struct skelgen_long_prediction *by_eight = long_entry(s, where);
	unsigned by_two = short_entry(s, where)->shape;
	unsigned next = by_eight->context == (uint32_t)where ? by_eight->is.shape : by_two;

	return next ? skelgen_shape_at(s, next) : (struct skelgen_shape *)&skelgen_no_shape;
}

/* From now on no link of any shape says anything. */
static SKELGEN_COLD void unlink_all(struct skelgen_stream *s)
{
	if (++s->order.round == ROUNDS) {
		s->order.round = 0;
		for (size_t i = 0; i < s->interned.shape_count; i++)
			skelgen_shape_at(s, (unsigned)i + 1)->link.where = SKELGEN_NOWHERE;
	}
	s->where = (s->where & BELOW_ROUND) | (uint64_t)s->order.round << ROUND_AT;
}

/* Judge whether calls come in an order. What is counted begins with the next event. */
static SKELGEN_COLD void judge(struct skelgen_stream *s)
{
	struct skelgen_order *order = &s->order;

	if (order->none) {
		order->none = order->misses > FEW_MISSES;
	} else if (s->events - order->events < (uint64_t)TOO_MANY_MISSES * MISSES) {
		order->none = true;
		unlink_all(s);
	}
	order->events = s->events;
	order->judged = 0;
	order->misses = 0;
}

/*
 * Write the shape of this event into both tables and look up what should follow, where calls come
 * in no order. There are no links then; which link said what stands in an entry does not matter.
 */
void skelgen_learn_unlinked(struct skelgen_stream *s, const struct skelgen_shape *shape)
{
	struct skelgen_long_prediction *by_eight = long_entry(s, s->where);

	short_entry(s, s->where)->shape = shape->place;
	by_eight->is.shape = shape->place;
	by_eight->context = (uint32_t)s->where;
	s->where = place_after(s->where, shape->id);
	s->predicted = expected(s, s->where);
	if (unlikely(++s->order.judged == EVENTS_JUDGED))
		judge(s);
}

/*
 * The same, and link the two: while these entries do not change, the next event of this shape here
 * finds both done. So an event of a loop touches no table, only its shape, which matters where the
 * program fills the caches.
 */
SKELGEN_INLINE void learn_linked(struct skelgen_stream *s, struct skelgen_shape *shape)
{
	uint32_t context = (uint32_t)s->where;
	struct skelgen_prediction *by_two = short_entry(s, s->where);
	struct skelgen_long_prediction *by_eight = long_entry(s, s->where);

	if (by_two->shape != shape->place)
		put(s, by_two, BY_TWO, shape);
	if (by_eight->is.shape != shape->place || by_eight->context != context)
		put(s, &by_eight->is, BY_EIGHT, shape);
	by_eight->context = context;
	shape->link.where = s->where;
	shape->link.then = place_after(s->where, shape->id);
	read_by(s, short_entry(s, shape->link.then), BY_TWO, shape);
	read_by(s, &long_entry(s, shape->link.then)->is, BY_EIGHT, shape);
	shape->link.next = expected(s, shape->link.then);
	s->where = shape->link.then;
	s->predicted = shape->link.next;
}

void skelgen_learn(struct skelgen_stream *s, struct skelgen_shape *shape)
{
	if (unlikely(s->order.misses >= MISSES && !s->order.none))
		judge(s);
	if (s->order.none)
		skelgen_learn_unlinked(s, shape);
	else
		learn_linked(s, shape);
}
