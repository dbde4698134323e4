/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of calls and their shapes, and of which follow each other: types. */
#ifndef SKELGEN_CALL_H
#define SKELGEN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "skelgen_record.h"

/* A call as the wrapper saw it: handles as MPI has them, not yet our ids. */
struct skelgen_call {
	uint64_t site;
	uint64_t comm;
	uint64_t type_a;
	uint64_t type_b;
	uint64_t op;
	uint64_t reference;
	uint32_t function;
	uint32_t flags;
	int32_t peer;
	int32_t tag;
	int32_t peer2;
	int32_t tag2;
	int64_t count_a;
	int64_t count_b;
	uint32_t vector_a;
	uint32_t vector_b;
};

/*
 * What happens to the predictions when the event that this belongs to comes where it came
 * the last time: nothing, they are those already, and then `next` is predicted
 * (intern/prediction.c).
 */
struct skelgen_link {
	uint64_t where; /* `where` of the stream before the event; NOWHERE: says nothing */
	uint64_t then;  /* `where` after it */
	struct skelgen_shape *next;
};

/* No `where` of a stream. */
#define SKELGEN_NOWHERE UINT64_MAX

/* Handles that a shape may have: communicator, two types, operation. */
#define SKELGEN_HANDLES 4

/*
 * The first 64 bytes and the link are all that most events look at; those that were not predicted
 * look at 128 bytes, and at the history where counts change.
 */
struct skelgen_shape {
	_Alignas(64) uint64_t site;
	uint64_t comm;
	uint64_t type_a;
	uint64_t reference;
	union {
		struct {
			uint32_t function; /* UINT32_MAX: one of its handles was freed */
			uint32_t flags;
		};
		uint64_t kind; /* both */
	};
	int32_t peer;
	int32_t tag;
	int64_t count_a; /* predicted */
	uint32_t id;
	uint8_t lag;
	uint8_t turning; /* 0: the eight last pairs of counts are equal */

	struct skelgen_link link;
	uint64_t type_b;
	uint64_t op;
	int32_t peer2;
	int32_t tag2;
	int64_t count_b; /* predicted */
	uint32_t varies; /* SKELGEN_SHAPE_VARIES_* */
	uint16_t place;  /* in memory, from 1 */
	uint16_t newest; /* index into history */

	struct skelgen_counts {
		int64_t a;
		int64_t b;
	} history[SKELGEN_COUNT_HISTORY];
	uint64_t digests; /* of these pairs, a byte each, the newest lowest */
	uint32_t vector_a;
	uint32_t vector_b;
	uint64_t content; /* hash of the definition, to find it again */
	int32_t comm_id;
	uint32_t type_a_id;
	uint32_t type_b_id;
	uint32_t op_code;
	struct skelgen_user {
		uint16_t next;
		uint16_t before;
	} users[SKELGEN_HANDLES];   /* neighbours among the users of each handle */
	bool used[SKELGEN_HANDLES]; /* whether the shape is one of them */
};

/* Which fields of a call a function has; the others are zero in all its calls. */
enum skelgen_uses {
	SKELGEN_USES_COMM = 0x01,
	SKELGEN_USES_A = 0x02,
	SKELGEN_USES_B = 0x04,
	SKELGEN_USES_PEER = 0x08,
	SKELGEN_USES_PEER2 = 0x10,
	SKELGEN_USES_OP = 0x20,
	SKELGEN_USES_REFERENCE = 0x40,
	SKELGEN_USES_COUNT_A = 0x80, /* a count without a type */
};

/* Shapes by their place in memory, which is small: they are asked for in no order. 0: none. */
struct skelgen_prediction {
	uint16_t shape;  /* what followed */
	uint16_t reader; /* whose link says what stands here */
};

/* The same, when the last eight shapes were those of the context. */
struct skelgen_long_prediction {
	struct skelgen_prediction is;
	uint32_t context;
};

/*
 * Whether calls come in an order that can be predicted. Where they do not, nothing is linked:
 * links would be undone before they serve (intern/prediction.c).
 */
struct skelgen_order {
	uint64_t events; /* of the stream when it was judged last */
	uint8_t judged;  /* events since then, where there is no order */
	uint8_t misses;  /* events since then that were not predicted */
	uint8_t round;   /* how often the order was lost, modulo; a part of `where` */
	bool none;       /* calls come in no order now */
};

/*
 * While a call runs that is not all that was predicted: `predicted` of its stream is the shape that
 * it was taken for, and this is the rest (SKELGEN_SPECIAL_TAKEN, event/event.h).
 */
struct skelgen_taken {
	struct skelgen_shape *instead_of; /* what was predicted */
	uint64_t peers;                   /* peer and tag of the call */
	uint64_t peers2;
};

#endif
