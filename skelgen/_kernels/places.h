/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a key may stand in a hash table whose keys often have a part that counts: in one of
 * GROUP neighbouring slots, chosen by that part, of up to PROBES groups, then behind the
 * last of these. So one cache line serves several keys in turn.
 */
#ifndef SKELGEN_PLACES_H
#define SKELGEN_PLACES_H
#include <stdint.h>

#define PLACES_PROBES 8
#define PLACES_GROUP 16

struct places {
	uint32_t slot;
	uint32_t step;
	uint32_t mask;
	int probe;
};

static inline uint64_t places_mix(uint64_t code, uint32_t word)
{
	return (code ^ (code >> 29) ^ word) * 0x9e3779b97f4a7c15u;
}

/* `code` is mixed of everything but `counter`; the table has 2^bits slots, 16 at least. */
static inline struct places places_begin(uint64_t code, uint32_t counter, int64_t bits)
{
	uint32_t lane = ((uint32_t)(code >> 32) + counter) % PLACES_GROUP;

	code = places_mix(code, counter / PLACES_GROUP);
	return (struct places){
		.slot = (uint32_t)(code >> (64 - bits)) / PLACES_GROUP * PLACES_GROUP + lane,
		.step = ((uint32_t)code | 1) * PLACES_GROUP,
		.mask = (uint32_t)(((uint64_t)1 << bits) - 1),
	};
}

static inline void places_next(struct places *places)
{
	places->slot += ++places->probe < PLACES_PROBES ? places->step : 1;
	places->slot &= places->mask;
}

#endif
