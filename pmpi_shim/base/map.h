/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash map from 64-bit keys to 64-bit values, for the slow paths. */
#ifndef SKELGEN_MAP_H
#define SKELGEN_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys are any number but 0; the caller maps 0 elsewhere. */
struct skelgen_map {
	struct skelgen_map_entry {
		uint64_t key;
		uint64_t value;
	} *entries;
	size_t room; /* power of two, or 0 */
	size_t used; /* with removed ones */
	size_t live;
};

/* Return where the key's value stands, or NULL. Valid until the next insertion. */
uint64_t *skelgen_map_find(const struct skelgen_map *map, uint64_t key);

/* Set a value; false when memory is short. */
bool skelgen_map_set(struct skelgen_map *map, uint64_t key, uint64_t value);
void skelgen_map_remove(struct skelgen_map *map, uint64_t key);
void skelgen_map_clear(struct skelgen_map *map);
void skelgen_map_close(struct skelgen_map *map);

/* Mix one more number into a hash; start with any constant. Never returns 0. */
static inline uint64_t skelgen_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return (hash ^ hash >> 29) | (hash == 0);
}

#endif
