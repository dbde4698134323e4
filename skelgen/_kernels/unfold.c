/*
 * Expand a nest to its string; see skelgen/loops/unfold.py.
 */
#include <stdlib.h>
#include "unfold.h"

struct expansion {
	const int32_t *body_items, *symbol, *leaf_number;
	const int64_t *trips_first, *trips;
	int64_t *row, *used; /* of each item: its current run and the executions used of it */
	int64_t length, room;
	int32_t *string, *leaf;
};

static void expand(struct expansion *x, int64_t begin, int64_t end)
{
	for (int64_t i = begin; i < end; i += 1 + x->body_items[i]) {
		if (!x->body_items[i]) {
			if (x->length < x->room) {
				if (x->string)
					x->string[x->length] = x->symbol[i];
				if (x->leaf)
					x->leaf[x->length] = x->leaf_number[i];
			}
			x->length++;
			continue;
		}
		if (x->row[i] == x->trips_first[i + 1]) {
			x->length = x->room + 1; /* fewer trip counts than executions */
			return;
		}
		const int64_t *run = &x->trips[2 * x->row[i]];
		if (++x->used[i] == run[1]) {
			x->used[i] = 0;
			x->row[i]++;
		}
		for (int64_t trip = 0; trip < run[0] && x->length <= x->room; trip++)
			expand(x, i + 1, i + 1 + x->body_items[i]);
	}
}

int64_t skelgen_unfold(int64_t items, const int32_t *body_items, const int32_t *symbol,
		       const int64_t *trips_first, const int64_t *trips, int64_t room,
		       int32_t *string, int32_t *leaf)
{
	int32_t *numbers = malloc((size_t)(items + 1) * sizeof(*numbers));
	int64_t *row = malloc((size_t)(items + 1) * sizeof(*row));
	int64_t *used = calloc((size_t)(items + 1), sizeof(*used));
	struct expansion x = {body_items, symbol, numbers, trips_first, trips, row,
			      used,       0,      room,    string,      leaf};

	if (numbers && row && used) {
		int32_t leaves = 0;
		for (int64_t i = 0; i < items; i++) {
			numbers[i] = leaves;
			leaves += body_items[i] == 0;
			row[i] = trips_first[i];
		}
		expand(&x, 0, items);
	}
	free(numbers);
	free(row);
	free(used);
	return x.length <= room ? x.length : -1 - x.length;
}
