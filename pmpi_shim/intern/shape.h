/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes: a call that was seen before becomes the id of its shape. */
#ifndef SKELGEN_SHAPE_H
#define SKELGEN_SHAPE_H

#include "base/state.h"

/* The numbers that a file has for what the handles of a call lead to. */
struct skelgen_numbers {
	int32_t comm; /* -1: none */
	uint32_t type_a;
	uint32_t type_b;
	uint32_t op;
};

/*
 * Finds these numbers and defines what has no definition in the file. Definitions need MPI's
 * objects, of which nothing is known here: lifecycle/start.c says who does it.
 */
extern void (*skelgen_number_handles)(struct skelgen_stream *s, const struct skelgen_call *call,
				      struct skelgen_numbers *numbers);

struct skelgen_shape *skelgen_shape_new(struct skelgen_stream *s);
struct skelgen_shape *skelgen_shape_search(struct skelgen_stream *s,
					   const struct skelgen_call *call);
void skelgen_latest_forget(struct skelgen_interned *in);
struct skelgen_shape *skelgen_shape_of(struct skelgen_stream *s, const struct skelgen_call *call);

/* Two neighbouring 32-bit fields as one number, from memory and from values, and back. */
SKELGEN_INLINE uint64_t skelgen_eight(const void *fields)
{
	uint64_t value;

	memcpy(&value, fields, sizeof(value));
	return value;
}

SKELGEN_INLINE uint64_t skelgen_pair(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint64_t)second << 32 | first;
#else
	return (uint64_t)first << 32 | second;
#endif
}

SKELGEN_INLINE void skelgen_split(uint64_t pair, int32_t *first, int32_t *second)
{
	int32_t both[2];

	memcpy(both, &pair, sizeof(both));
	*first = both[0];
	*second = both[1];
}

/*
 * What of a call is another than in a shape: not 0. `uses` is a constant, so that only the fields
 * which the function has are compared. The values are what may vary in a shape.
 */
SKELGEN_INLINE uint64_t skelgen_base_differs(const struct skelgen_shape *shape,
					     struct skelgen_call call, unsigned uses)
{
	uint64_t differs = shape->site ^ call.site;

	/* Another thread may free a handle now, though none that this call is passed. */
	differs |= __atomic_load_n(&shape->kind, __ATOMIC_RELAXED) ^
		   skelgen_pair(call.function, call.flags);
	if (uses & SKELGEN_USES_COMM)
		differs |= shape->comm ^ call.comm;
	if (uses & SKELGEN_USES_A)
		differs |= shape->type_a ^ call.type_a;
	if (uses & SKELGEN_USES_B)
		differs |= shape->type_b ^ call.type_b;
	if (uses & SKELGEN_USES_OP)
		differs |= shape->op ^ call.op;
	return differs;
}

SKELGEN_INLINE uint64_t skelgen_values_differ(const struct skelgen_shape *shape,
					      struct skelgen_call call, unsigned uses)
{
	uint64_t differs = 0;

	if (uses & SKELGEN_USES_PEER)
		differs |= skelgen_eight(&shape->peer) ^
			   skelgen_pair((uint32_t)call.peer, (uint32_t)call.tag);
	if (uses & SKELGEN_USES_PEER2)
		differs |= skelgen_eight(&shape->peer2) ^
			   skelgen_pair((uint32_t)call.peer2, (uint32_t)call.tag2);
	if (uses & SKELGEN_USES_REFERENCE)
		differs |= shape->reference ^ call.reference;
	return differs;
}

SKELGEN_INLINE bool skelgen_matches(const struct skelgen_shape *shape, struct skelgen_call call,
				    unsigned uses)
{
	return !(skelgen_base_differs(shape, call, uses) |
		 skelgen_values_differ(shape, call, uses));
}

SKELGEN_INLINE bool skelgen_same_base(const struct skelgen_shape *shape,
				      const struct skelgen_call *call)
{
	uint64_t kind = __atomic_load_n(&shape->kind, __ATOMIC_RELAXED);

	return !((shape->site ^ call->site) | (kind ^ skelgen_eight(&call->function)) |
		 (shape->comm ^ call->comm) | (shape->type_a ^ call->type_a) |
		 (shape->type_b ^ call->type_b) | (shape->op ^ call->op));
}

SKELGEN_INLINE bool skelgen_same_values(const struct skelgen_shape *shape,
					const struct skelgen_call *call)
{
	return !((skelgen_eight(&shape->peer) ^ skelgen_eight(&call->peer)) |
		 (skelgen_eight(&shape->peer2) ^ skelgen_eight(&call->peer2)) |
		 (shape->reference ^ call->reference));
}

/* Whether a call has a shape: values that vary in it are not compared. */
SKELGEN_INLINE bool skelgen_is_of(const struct skelgen_shape *shape,
				  const struct skelgen_call *call)
{
	return skelgen_same_base(shape, call) &&
	       (shape->varies || skelgen_same_values(shape, call));
}

/* Where the latest shape of a call site stands: neighbouring sites are in neighbouring places. */
SKELGEN_INLINE struct skelgen_shape **skelgen_latest_of_site(struct skelgen_stream *s,
							     uint64_t site)
{
	return &s->interned.latest[site / 4 % SKELGEN_LATEST];
}

/* And where that of its peers, tags and requests stands, where these are parts of the shape. */
SKELGEN_INLINE struct skelgen_shape **skelgen_latest_of_values(struct skelgen_stream *s,
							       const struct skelgen_call *call)
{
	uint64_t mixed = skelgen_eight(&call->peer) * 0xbf58476d1ce4e5b9u +
			 skelgen_eight(&call->peer2) * 0x94d049bb133111ebu +
			 (call->reference + call->site) * 0x9e3779b97f4a7c15u;

	return &s->interned.latest[mixed >> 32 & (SKELGEN_LATEST - 1)];
}

/*
 * The shape of a call, if there is one: the predicted one, also where only values differ that vary
 * in it, else that in which the values of its site vary, else that of its values. NULL: it has to
 * be defined. Where values vary, the shapes that the site had before are found by prediction only:
 * looking for them would take longer than writing the values.
 */
SKELGEN_INLINE struct skelgen_shape *skelgen_shape_known(struct skelgen_stream *s,
							 const struct skelgen_call *call)
{
	struct skelgen_shape *shape = s->predicted;

	if (skelgen_is_of(shape, call))
		return shape;
	shape = *skelgen_latest_of_site(s, call->site);
	if (likely(skelgen_is_of(shape, call)))
		return shape;
	shape = *skelgen_latest_of_values(s, call);
	return likely(skelgen_is_of(shape, call)) ? shape : skelgen_shape_search(s, call);
}

/* A digest in each of the bytes of a shape's digests. */
#define SKELGEN_EACH_DIGEST 0x0101010101010101u

/* A byte that is equal for equal pairs of counts, and seldom for others. */
SKELGEN_INLINE uint64_t skelgen_digest(int64_t a, int64_t b)
{
	return ((uint64_t)a * 0x9e3779b97f4a7c15u + (uint64_t)b * 0xbf58476d1ce4e5b9u) >> 56;
}

/* Take an event's counts into the shape's history and predict the next ones. */
SKELGEN_INLINE void skelgen_turn(struct skelgen_shape *shape, int64_t a, int64_t b)
{
	const struct skelgen_counts *next;

	shape->newest = (uint16_t)((shape->newest + 1u) % SKELGEN_COUNT_HISTORY);
	shape->history[shape->newest] = (struct skelgen_counts){a, b};
	shape->digests = shape->digests << 8 | skelgen_digest(a, b);
	next = &shape->history[(shape->newest + 1u - shape->lag) % SKELGEN_COUNT_HISTORY];
	shape->count_a = next->a;
	shape->count_b = next->b;
	shape->turning -= shape->lag == 1;
}

#endif
