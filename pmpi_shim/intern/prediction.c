/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which shape follows: the one that followed the last eight shapes the last time, else the one
 * that followed the last two. The reader keeps the same two tables.
 */
#include "intern/prediction.h"

#include <stdlib.h>

/* What is predicted where nothing is known. */
const struct skelgen_shape skelgen_no_shape = {.function = UINT32_MAX};

_Static_assert(SKELGEN_PREDICTIONS <= 1 << 12, "an index takes twelve bits");

/* `where` of a stream: all that the tables are asked with, in one number. */
static uint64_t place(uint32_t last, uint32_t index, uint32_t context)
{
	return (uint64_t)(last % SKELGEN_PREDICTIONS) << 44 | (uint64_t)index << 32 | context;
}

bool skelgen_predictions_open(struct skelgen_stream *s)
{
	s->predictions = malloc(SKELGEN_PREDICTIONS * sizeof(*s->predictions));
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
	struct skelgen_shape *none = (struct skelgen_shape *)&skelgen_no_shape;

	for (size_t i = 0; i < SKELGEN_PREDICTIONS; i++) {
		s->predictions[i] = none;
		s->long_predictions[i].shape = none;
	}
	s->predicted = none;
	s->version++;
}

/*
 * Write the shape of this event into both tables, look up what should follow, and link the two:
 * while no table changes, the next event of this shape here finds both done. So an event of a
 * loop touches no table, only its shape, which matters where the program fills the caches.
 */
void skelgen_learn(struct skelgen_stream *s, struct skelgen_shape *shape)
{
	uint32_t context = (uint32_t)s->where;
	uint32_t last = (uint32_t)(s->where >> 44);
	uint32_t index = (31 * last + shape->id) % SKELGEN_PREDICTIONS;
	struct skelgen_shape **slot = &s->predictions[(s->where >> 32) % SKELGEN_PREDICTIONS];
	struct skelgen_prediction *entry = &s->long_predictions[context >> 20];

	if (*slot != shape || entry->shape != shape || entry->context != context)
		s->version++;
	*slot = shape;
	*entry = (struct skelgen_prediction){context, shape};
	shape->link.where = s->where;
	shape->link.version = s->version;
	context = context << SKELGEN_CONTEXT_SHIFT ^ shape->id * (uint32_t)SKELGEN_CONTEXT_FACTOR;
	entry = &s->long_predictions[context >> 20];
	shape->link.then = place(shape->id, index, context);
	shape->link.next = entry->context == context ? entry->shape : s->predictions[index];
}
