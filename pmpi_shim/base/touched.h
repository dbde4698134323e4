/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the memory that a rank's computation touches. */
#ifndef SKELGEN_TOUCHED_H
#define SKELGEN_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

/* At one gap, or at all that passes in a longer time; traces have them in this order. */
enum skelgen_look {
	SKELGEN_LOOK_NARROW,
	SKELGEN_LOOK_BROAD,
	SKELGEN_LOOK_KINDS,
};

/* Looks of one kind, and what they saw together. */
struct skelgen_looks {
	uint64_t count;
	uint64_t kib;
	uint64_t us;
};

/* The counts of event/touched_memory.c. */
struct skelgen_touched {
	bool known;   /* the kernel says it */
	bool wanted;  /* marks are to be taken away at the end of this call */
	bool marking; /* they were */
	uint64_t begin;
	uint64_t marked;   /* when */
	uint64_t spent_ns; /* on looking, of processor time */
	uint64_t own_kib;  /* that looking touches by itself */
	uint32_t gaps;     /* long ones since the last look */
	uint32_t skipped;  /* of these, before the next look */
	uint32_t random;
	enum skelgen_look kind; /* of the next look */
	struct skelgen_looks looks[SKELGEN_LOOK_KINDS];
};

#endif
