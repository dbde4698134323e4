/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/map.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A removed key: probing goes on across it. */
#define REMOVED UINT64_MAX

static size_t start_of(const struct skelgen_map *map, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (map->room - 1);
}

uint64_t *skelgen_map_find(const struct skelgen_map *map, uint64_t key)
{
	if (!map->room)
		return NULL;
	for (size_t i = start_of(map, key);; i = (i + 1) & (map->room - 1)) {
		if (map->entries[i].key == key)
			return &map->entries[i].value;
		if (!map->entries[i].key)
			return NULL;
	}
}

static bool resize(struct skelgen_map *map, size_t room)
{
	struct skelgen_map larger = {.room = room};

	larger.entries = calloc(room, sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (size_t i = 0; i < map->room; i++)
		if (map->entries[i].key && map->entries[i].key != REMOVED)
			skelgen_map_set(&larger, map->entries[i].key, map->entries[i].value);
	free(map->entries);
	*map = larger;
	return true;
}

bool skelgen_map_set(struct skelgen_map *map, uint64_t key, uint64_t value)
{
	uint64_t *found = skelgen_map_find(map, key);

	if (found) {
		*found = value;
		return true;
	}
	if (4 * (map->used + 1) > 3 * map->room) {
		size_t room = map->room ? map->room : 16;

		while (4 * (map->live + 1) > 2 * room)
			room *= 2;
		if (!resize(map, room))
			return false;
	}
	for (size_t i = start_of(map, key);; i = (i + 1) & (map->room - 1)) {
		if (map->entries[i].key)
			continue;
		map->entries[i] = (struct skelgen_map_entry){key, value};
		map->used++;
		map->live++;
		return true;
	}
}

void skelgen_map_remove(struct skelgen_map *map, uint64_t key)
{
	uint64_t *found = skelgen_map_find(map, key);
	struct skelgen_map_entry *entry;

	if (!found)
		return;
	entry = (void *)((char *)found - offsetof(struct skelgen_map_entry, value));
	entry->key = REMOVED;
	map->live--;
}

void skelgen_map_clear(struct skelgen_map *map)
{
	if (map->room)
		memset(map->entries, 0, map->room * sizeof(*map->entries));
	map->used = 0;
	map->live = 0;
}

void skelgen_map_close(struct skelgen_map *map)
{
	free(map->entries);
	*map = (struct skelgen_map){0};
}
