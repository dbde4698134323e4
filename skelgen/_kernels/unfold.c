/*
 * Expands a loop nest into the leaf of each position and the executions of its loops. The Python
 * twin stands in tests/twins/loops_unfold.py.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unfold.h"

/* No string is longer; keeps sums of damaged trip counts from overflowing. */
#define LONGEST (INT64_C(1) << 31)

/* A loop that is being measured. */
struct open_loop {
	int64_t end; /* item behind its body */
	int64_t iterations;
};

/* Sums up the rows of a loop; returns false when a number in them cannot be. */
static bool sum_rows(const struct skelgen_folded *nest, int64_t item, int64_t *executions,
		     int64_t *iterations)
{
	int64_t row;

	*executions = *iterations = 0;
	for (row = nest->trips_first[item]; row < nest->trips_first[item + 1]; row++) {
		int64_t trips = nest->trips[2 * row], times = nest->trips[2 * row + 1];

		if (trips < 0 || times < 1 || times > LONGEST || trips > LONGEST / times)
			return false;
		*executions += times;
		*iterations += trips * times;
		if (*executions > LONGEST || *iterations > LONGEST)
			return false;
	}
	return true;
}

static bool measure(const struct skelgen_folded *nest, struct skelgen_extent *extent,
		    struct open_loop *open)
{
	int64_t item, depth = 0, executions, iterations;

	open[0] = (struct open_loop){nest->items, 1};
	for (item = 0; item < nest->items; item++) {
		while (item == open[depth].end)
			depth--;
		if (!nest->body_items[item]) {
			extent->length += open[depth].iterations;
			if (extent->length > LONGEST)
				return false;
			continue;
		}
		if (nest->body_items[item] < 0 ||
		    item + nest->body_items[item] >= open[depth].end ||
		    !sum_rows(nest, item, &executions, &iterations) ||
		    executions != open[depth].iterations)
			return false;
		open[++depth] = (struct open_loop){item + 1 + nest->body_items[item], iterations};
		extent->executions += executions;
		extent->iterations += iterations;
		if (depth > extent->depth)
			extent->depth = depth;
	}
	return true;
}

int skelgen_measure(const struct skelgen_folded *nest, struct skelgen_extent *extent)
{
	struct open_loop *open = malloc(((size_t)nest->items + 1) * sizeof(*open));
	bool sound;

	memset(extent, 0, sizeof(*extent));
	if (!open)
		return -1;
	sound = measure(nest, extent, open);
	free(open);
	return sound ? 0 : 1;
}

/* A loop that is being executed. */
struct frame {
	int64_t item;
	int64_t end;   /* item behind its body */
	int64_t left;  /* trips after this one */
	int64_t bound; /* where that of the next iteration goes */
};

struct walk {
	const struct skelgen_folded *nest;
	int32_t *number; /* of each leaf */
	int64_t *row;    /* of each loop, the one that holds the next trip count */
	int64_t *used;   /* executions that took it */
	int32_t *leaf;
	int64_t length;
	int32_t *item;
	int64_t *first;
	int64_t *bound;
	int64_t executions, bounds;
};

static int64_t next_trips(struct walk *w, int64_t item)
{
	const int64_t *row = w->nest->trips + 2 * w->row[item];

	if (++w->used[item] == row[1]) {
		w->used[item] = 0;
		w->row[item]++;
	}
	return row[0];
}

/* Copies what was written since a position, so that it stands there a number of times. */
static void repeat(struct walk *w, int64_t from, int64_t times)
{
	int64_t body = w->length - from, left = (times - 1) * body;

	while (left > 0) {
		int64_t chunk = w->length - from < left ? w->length - from : left;

		memcpy(w->leaf + w->length, w->leaf + from, (size_t)chunk * sizeof(*w->leaf));
		w->length += chunk;
		left -= chunk;
	}
}

/* Writes the leaves from an item on; returns the item behind them. */
static int64_t put_leaves(struct walk *w, int64_t item, int64_t end)
{
	for (; item < end && !w->nest->body_items[item]; item++)
		w->leaf[w->length++] = w->number[item];
	return item;
}

static void begin(struct walk *w, struct frame *frame, int64_t item)
{
	frame->item = item;
	frame->end = item + 1 + w->nest->body_items[item];
	frame->left = next_trips(w, item) - 1;
	if (!w->item)
		return;
	w->item[w->executions] = (int32_t)item;
	w->first[w->executions++] = w->bounds;
	w->bound[w->bounds] = w->length;
	frame->bound = w->bounds + 1;
	w->bounds += frame->left + 2;
}

/* Writes the rest of an execution whose body has no loops, after its first iteration. */
static void finish_flat(struct walk *w, struct frame *frame)
{
	int64_t body = frame->end - frame->item - 1, from = w->length - body;

	repeat(w, from, frame->left + 1);
	if (w->item)
		for (; frame->left >= 0; frame->left--)
			w->bound[frame->bound++] = from += body;
	frame->left = 0;
}

static void unfold(struct walk *w, struct frame *frame)
{
	struct frame *outermost = frame;
	int64_t item = 0;

	*frame = (struct frame){.item = -1, .end = w->nest->items};
	for (;;) {
		bool flat = item == frame->item + 1;

		item = put_leaves(w, item, frame->end);
		if (item < frame->end) {
			begin(w, ++frame, item++);
			if (frame->left < 0) { /* no trip */
				item = frame->end;
				frame--;
			}
			continue;
		}
		if (frame == outermost)
			return;
		if (flat)
			finish_flat(w, frame);
		else if (w->item)
			w->bound[frame->bound++] = w->length;
		if (frame->left-- > 0)
			item = frame->item + 1;
		else
			frame--;
	}
}

int skelgen_unfold(const struct skelgen_folded *nest, const struct skelgen_extent *extent,
		   int32_t *leaf, int32_t *item, int64_t *first, int64_t *bound)
{
	size_t items = (size_t)nest->items + 1;
	struct walk w = {.nest = nest, .leaf = leaf, .item = item, .first = first, .bound = bound};
	struct frame *frames = malloc(((size_t)extent->depth + 1) * sizeof(*frames));
	int32_t leaves = 0;
	int64_t i;
	int status = -1;

	w.number = malloc(items * sizeof(*w.number));
	w.row = malloc(items * sizeof(*w.row));
	w.used = calloc(items, sizeof(*w.used));
	if (frames && w.number && w.row && w.used) {
		for (i = 0; i < nest->items; i++) {
			w.number[i] = leaves;
			leaves += !nest->body_items[i];
			w.row[i] = nest->trips_first[i];
		}
		unfold(&w, frames);
		if (first)
			first[w.executions] = w.bounds;
		status = 0;
	}
	free(frames);
	free(w.number);
	free(w.row);
	free(w.used);
	return status;
}
