/* SPDX-License-Identifier: BSD-3-Clause */
/* Which shape follows. */
#ifndef SKELGEN_PREDICTION_H
#define SKELGEN_PREDICTION_H

#include "base/state.h"
#include "encode/varint.h"

/*
 * Shapes in memory (320 bytes each), three quarters of what their tables are made for; beyond
 * this all are forgotten, their ids are not reused.
 */
#define SKELGEN_MOST_SHAPES 12288

/* A shape by its place in memory, from 1. */
SKELGEN_INLINE struct skelgen_shape *skelgen_shape_at(const struct skelgen_stream *s,
						      unsigned place)
{
	return &s->interned.slabs[(place - 1) / SKELGEN_SLAB][(place - 1) % SKELGEN_SLAB];
}

extern const struct skelgen_shape skelgen_no_shape;
bool skelgen_predictions_open(struct skelgen_stream *s);
void skelgen_predictions_close(struct skelgen_stream *s);
void skelgen_predictions_forget(struct skelgen_stream *s);
void skelgen_learn(struct skelgen_stream *s, struct skelgen_shape *shape);
void skelgen_learn_unlinked(struct skelgen_stream *s, const struct skelgen_shape *shape);

/* The call that ran is what it was, whatever it was taken for. */
SKELGEN_INLINE void skelgen_untake(struct skelgen_stream *s)
{
	if (s->special & SKELGEN_SPECIAL_TAKEN)
		s->predicted = s->taken.instead_of;
	s->special &= ~(uint64_t)SKELGEN_SPECIAL_TAKEN;
}

/* Name the shape of an event that was not predicted. */
SKELGEN_INLINE uint8_t *skelgen_put_shape(uint8_t *p, struct skelgen_stream *s,
					  const struct skelgen_shape *shape, unsigned *tag)
{
	*tag |= SKELGEN_EVENT_SHAPE;
	s->order.misses++;
	return skelgen_put_small_varint(p, shape->id);
}

/* Remember the shape of the event just written and look up what should follow. */
SKELGEN_INLINE void skelgen_predict(struct skelgen_stream *s, struct skelgen_shape *shape)
{
	const struct skelgen_link *link = &shape->link;

	if (unlikely(link->where != s->where)) {
		skelgen_learn(s, shape);
		return;
	}
	s->where = link->then;
	s->predicted = link->next;
}

#endif
