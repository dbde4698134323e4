/*
 * Expands a loop nest and weighs every position: 1 where the position belongs to a kept whole
 * iteration, the remainder's fraction in the one iteration that is kept in part, 0 elsewhere.
 * Also labels 64-bit keys by first occurrence. The Python twins stand in skeleton/expansion.py.
 */
#include "select.h"

#include <math.h>
#include <stdlib.h>

enum {
	TOO_LONG = -1,
	BROKEN = -2,
	NO_MEMORY = -3,
	DEPTH = 512,
};

struct walk {
	const int32_t *body_items;
	const int64_t *trips;
	/* Of each item: number among the leaves; row of trips, end of rows, uses of the row. */
	int32_t *number;
	int64_t *row;
	int64_t *rows;
	int64_t *used;
	int64_t length;
	int64_t capacity;
	int32_t *leaf;
	float *weight;
};

/* Trip count of the next execution of a loop; a negative number when there is none. */
static int64_t next_trips(struct walk *walk, int64_t item)
{
	int64_t row = walk->row[item];
	int64_t count;

	if (row >= walk->rows[item])
		return BROKEN;
	count = walk->trips[2 * row];
	if (++walk->used[item] >= walk->trips[2 * row + 1]) {
		walk->row[item]++;
		walk->used[item] = 0;
	}
	return count < 0 ? BROKEN : count;
}

static int body(struct walk *walk, int64_t from, int64_t to, double fraction, int depth);

/*
 * One execution of a loop. Of n trips, n * fraction are kept: whole ones and at most one in
 * part, each from the middle of one of equally many strata. The one in part is the last, so
 * that the others stay one loop.
 */
static int loop(struct walk *walk, int64_t item, double fraction, int depth)
{
	int64_t count = next_trips(walk, item);
	int64_t end = item + 1 + walk->body_items[item];
	double kept = (double)count * fraction;
	int64_t whole = (int64_t)floor(kept + 1e-9);
	double part = kept - (double)whole;
	int64_t chosen, order = 0, next, trip;

	if (count < 0)
		return (int)count;
	if (part < 1e-9)
		part = 0;
	chosen = whole + (part > 0);
	next = chosen > 0 ? count / (2 * chosen) : count;
	for (trip = 0; trip < count; trip++) {
		double share = 0;
		int error;

		if (trip == next) {
			share = part > 0 && order == chosen - 1 ? part : 1;
			order++;
			next = order < chosen ? (2 * order + 1) * count / (2 * chosen) : count;
		}
		error = body(walk, item + 1, end, share, depth + 1);
		if (error)
			return error;
	}
	return 0;
}

static int body(struct walk *walk, int64_t from, int64_t to, double fraction, int depth)
{
	int64_t item = from;

	if (depth > DEPTH)
		return BROKEN;
	while (item < to) {
		if (walk->number[item] < 0) {
			int error = loop(walk, item, fraction, depth);

			if (error)
				return error;
		} else {
			if (walk->length >= walk->capacity)
				return TOO_LONG;
			walk->leaf[walk->length] = walk->number[item];
			walk->weight[walk->length++] = (float)fraction;
		}
		item += 1 + walk->body_items[item];
	}
	return item == to ? 0 : BROKEN;
}

/* Returns the length of the string, or a negative code when the nest is not sound. */
int64_t skelgen_select(int64_t items, const int32_t *body_items, const int64_t *trips_first,
		       const int64_t *trips, double fraction, int64_t capacity, int32_t *leaf,
		       float *weight)
{
	struct walk walk = {
		.body_items = body_items,
		.trips = trips,
		.capacity = capacity,
		.leaf = leaf,
		.weight = weight,
	};
	size_t count = (size_t)items + 1;
	int32_t leaves = 0;
	int error = NO_MEMORY;
	int64_t item;

	walk.number = malloc(count * sizeof(*walk.number));
	walk.row = malloc(count * sizeof(*walk.row));
	walk.rows = malloc(count * sizeof(*walk.rows));
	walk.used = calloc(count, sizeof(*walk.used));
	if (!walk.number || !walk.row || !walk.rows || !walk.used)
		goto out;
	for (item = 0; item < items; item++) {
		walk.number[item] = body_items[item] > 0 ? -1 : leaves++;
		walk.row[item] = trips_first[item];
		walk.rows[item] = trips_first[item + 1];
	}
	error = body(&walk, 0, items, fraction, 0);
out:
	free(walk.number);
	free(walk.row);
	free(walk.rows);
	free(walk.used);
	return error ? error : walk.length;
}

/*
 * Numbers equal keys by first occurrence and notes where each was first seen; returns how many
 * there are. Open addressing, at most half full.
 */
int64_t skelgen_label(int64_t count, const uint64_t *key, int32_t *label, int64_t *first)
{
	uint64_t size = 1024, mask, slot, s;
	int64_t labels = 0, i;
	int32_t *table = malloc(size * sizeof(*table));

	if (!table)
		return NO_MEMORY;
	for (s = 0; s < size; s++)
		table[s] = -1;
	mask = size - 1;
	for (i = 0; i < count; i++) {
		slot = (key[i] * 0x9e3779b97f4a7c15u) >> 20 & mask;
		while (table[slot] >= 0 && key[first[table[slot]]] != key[i])
			slot = (slot + 1) & mask;
		if (table[slot] >= 0) {
			label[i] = table[slot];
			continue;
		}
		first[labels] = i;
		label[i] = (int32_t)labels;
		table[slot] = (int32_t)labels++;
		if ((uint64_t)labels * 2 < size)
			continue;
		free(table);
		size *= 4;
		mask = size - 1;
		table = malloc(size * sizeof(*table));
		if (!table)
			return NO_MEMORY;
		for (s = 0; s < size; s++)
			table[s] = -1;
		for (s = 0; s < (uint64_t)labels; s++) {
			slot = (key[first[s]] * 0x9e3779b97f4a7c15u) >> 20 & mask;
			while (table[slot] >= 0)
				slot = (slot + 1) & mask;
			table[slot] = (int32_t)s;
		}
	}
	free(table);
	return labels;
}
