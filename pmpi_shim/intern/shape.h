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
struct skelgen_shape *skelgen_shape_known(const struct skelgen_stream *s,
					  const struct skelgen_call *call);
struct skelgen_shape *skelgen_shape_of(struct skelgen_stream *s, const struct skelgen_call *call);

/* Two neighbouring 32-bit fields as one number, from memory and from values. */
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

SKELGEN_INLINE bool skelgen_matches(const struct skelgen_shape *shape, struct skelgen_call call,
				    unsigned uses)
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
	if (uses & SKELGEN_USES_PEER)
		differs |= skelgen_eight(&shape->peer) ^
			   skelgen_pair((uint32_t)call.peer, (uint32_t)call.tag);
	if (uses & SKELGEN_USES_PEER2)
		differs |= skelgen_eight(&shape->peer2) ^
			   skelgen_pair((uint32_t)call.peer2, (uint32_t)call.tag2);
	if (uses & SKELGEN_USES_OP)
		differs |= shape->op ^ call.op;
	if (uses & SKELGEN_USES_REFERENCE)
		differs |= shape->reference ^ call.reference;
	return !differs;
}

/* Take an event's counts into the shape's history and predict the next ones. */
SKELGEN_INLINE void skelgen_turn(struct skelgen_shape *shape, int64_t a, int64_t b)
{
	const struct skelgen_counts *next;

	shape->newest = (uint16_t)((shape->newest + 1u) % SKELGEN_COUNT_HISTORY);
	shape->history[shape->newest] = (struct skelgen_counts){a, b};
	next = &shape->history[(shape->newest + 1u - shape->lag) % SKELGEN_COUNT_HISTORY];
	shape->count_a = next->a;
	shape->count_b = next->b;
	shape->turning -= shape->lag == 1;
}

#endif
