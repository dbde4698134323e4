/*
 * Expands a loop nest and weighs every position: 1 where the position belongs to a kept whole
 * iteration, the remainder's fraction in the one iteration that is kept in part, 0 elsewhere.
 * Also labels 64-bit keys by first occurrence. The Python twins stand in
 * skeleton/keep/expansion.py.
 */
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Labels by key: open addressing, at most half full, -1 where nothing stands. */
struct table {
	int32_t *label;
	uint64_t size;
	const uint64_t *key;
	const int64_t *first;
};

static int resize(struct table *table, uint64_t size)
{
	free(table->label);
	table->label = malloc(size * sizeof(*table->label));
	table->size = size;
	if (!table->label)
		return NO_MEMORY;
	memset(table->label, 0xff, size * sizeof(*table->label));
	return 0;
}

/* Where the label of a key stands, or belongs. */
static int32_t *place(const struct table *table, uint64_t key)
{
	uint64_t mask = table->size - 1;
	uint64_t slot = (key * 0x9e3779b97f4a7c15u) >> 20 & mask;

	while (table->label[slot] >= 0 && table->key[table->first[table->label[slot]]] != key)
		slot = (slot + 1) & mask;
	return &table->label[slot];
}

/*
 * Numbers equal keys by first occurrence and notes where each was first seen; returns how many
 * there are.
 */
int64_t skelgen_label(int64_t count, const uint64_t *key, int32_t *label, int64_t *first)
{
	struct table table = {.key = key, .first = first};
	int64_t labels = 0, i, known;

	if (resize(&table, 1024))
		return NO_MEMORY;
	for (i = 0; i < count; i++) {
		int32_t *found = place(&table, key[i]);

		if (*found < 0) {
			first[labels] = i;
			*found = (int32_t)labels++;
		}
		label[i] = *found;
		if ((uint64_t)labels * 2 < table.size)
			continue;
		if (resize(&table, table.size * 4))
			return NO_MEMORY;
		for (known = 0; known < labels; known++)
			*place(&table, key[first[known]]) = (int32_t)known;
	}
	free(table.label);
	return labels;
}
