/*
 * Folds a string of symbols into nested loops. The rules are explained in
 * skelgen/loops/kernel.py; names are those of the Python twin, tests/twins/loops_kernel.py.
 *
 * Prefix hashes compare any two stretches of the stack in constant time, and what they find is
 * verified item by item before it becomes a loop. Each symbol is pushed once, each reduction takes
 * at least one item away, and no rule tries more than a fixed number of places: time is linear.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"
#include "fold_counters.h"
#include "fold_bodies.h"
#include "fold_nests.h"

enum {
	LONG = 16,      /* items whose key finds earlier likes; shorter ones are tried one by one */
	EARLIER = 8,    /* heights with the same key that are tried, newest first */
	KEY_BITS = 10,  /* of the keys of LONG items at first */
	REACH = 16,     /* items between a loop and the end that may repeat its body's end */
	NEAR_LOOPS = 4, /* loops in reach that are tried */
	DEEPEST = 64,   /* levels of loops */
};

struct reducer {
	const int32_t *symbols;
	int64_t length, read;
	bool failed; /* no memory */

	/* The stack: ids, where each begins in the string, hashes of all below each height. */
	int32_t items;
	uint32_t *id;
	int32_t *start;
	uint64_t *prefix;
	uint64_t *power; /* of BASE; as many as the stack was ever high */
	int32_t powers;
	/* Newest height with each key of its topmost LONG items, and the next lower of each. */
	int32_t *newest;
	int32_t *older;
	int bits; /* of keys */
	/* Counters of all items, those of an item together. */
	struct counter *counter;
	int32_t counters;
	struct rows rows;
	struct bodies bodies;
};

/* Hash of the topmost items below a height. */
static uint64_t stretch(const struct reducer *r, int32_t height, int32_t length)
{
	uint64_t below = multiply(r->prefix[height - length], r->power[length]);
	uint64_t hash = r->prefix[height];

	return hash >= below ? hash - below : hash + PRIME - below;
}

static uint64_t top_pair(const struct reducer *r)
{
	return pair_key(r->id[r->items - 2], r->id[r->items - 1]);
}

static uint64_t long_key(const struct reducer *r, int32_t height)
{
	return stretch(r, height, LONG) * SPREAD >> (64 - r->bits);
}

/* The stack. */

static void note_height(struct reducer *r, int32_t height)
{
	int32_t *newest = &r->newest[long_key(r, height)];

	r->older[height] = *newest;
	*newest = height;
}

/* Makes room for the keys of twice as many heights. */
static void widen_keys(struct reducer *r)
{
	int32_t *wider = calloc((size_t)2 << r->bits, sizeof(*wider)), height;

	if (!wider) {
		r->failed = true;
		return;
	}
	free(r->newest);
	r->newest = wider;
	r->bits++;
	for (height = LONG; height < r->items; height++)
		note_height(r, height);
}

static void push(struct reducer *r, uint32_t item, int32_t start)
{
	int32_t height = ++r->items;

	r->id[height - 1] = item;
	r->start[height - 1] = start;
	r->prefix[height] = extend(r->prefix[height - 1], item);
	if (r->powers <= height)
		r->power[r->powers++] = multiply(r->power[height - 1], BASE);
	if (height >> r->bits)
		widen_keys(r);
	if (height >= LONG)
		note_height(r, height);
}

static void pop(struct reducer *r, int32_t length)
{
	for (; length > 0; length--, r->items--)
		if (r->items >= LONG)
			r->newest[long_key(r, r->items)] = r->older[r->items];
}

/* Rules. Those that find return the number of a body that the stack ends with, or -1. */

/* Adds the topmost counters to an equal item at the end of what lies below. */
static bool joins(struct reducer *r, uint32_t item)
{
	int32_t size = counters_of(&r->bodies, item), end = r->counters - size, i;
	const struct counter *later = r->counter + end;
	struct counter *to;
	uint32_t below;

	if (!r->items)
		return false;
	for (below = r->id[r->items - 1]; below != item; below = last_of(&r->bodies, below), end--)
		if (below < LOOP)
			return false;
	to = r->counter + end - size;
	for (i = 0; i < size - 1; i++)
		append(&r->rows, to + i, later + i);
	lengthen(&r->rows, to + i, later[i].trips);
	r->counters -= size;
	return true;
}

static int32_t known_end(const struct reducer *r)
{
	int32_t number = r->bodies.ending[top_pair(r)], found = -1, tries;

	for (tries = 0; tries < BODIES && number >= 0; tries++) {
		const struct body *body = &r->bodies.body[number];
		int32_t length = body->length;

		if (length <= r->items && (found < 0 || length < r->bodies.body[found].length) &&
		    stretch(r, r->items, length) == body->hash &&
		    equal(ids_of(&r->bodies, body), r->id + r->items - length, length))
			found = number;
		number = body->next;
	}
	return found;
}

/* A stretch that ends the stack twice in a row. */
static int32_t repeated_end(struct reducer *r)
{
	const uint32_t *end = r->id + r->items;
	int32_t length, height, tries;

	for (length = 2; length < LONG && 2 * length <= r->items; length++)
		if (end[-1] == end[-1 - length] && equal(end - length, end - 2 * length, length))
			return define(&r->bodies, end - length, length, DEEPEST);
	if (r->items < 2 * LONG)
		return -1;
	height = r->older[r->items];
	for (tries = 0; tries < EARLIER && height; tries++, height = r->older[height]) {
		length = r->items - height;
		if (length < LONG)
			continue;
		if (length > height)
			break;
		if (end[-1] == end[-1 - length] &&
		    stretch(r, r->items, length) == stretch(r, height, length) &&
		    equal(end - length, end - 2 * length, length))
			return define(&r->bodies, end - length, length, DEEPEST);
	}
	return -1;
}

/* A stretch behind a loop that also ends the loop's body. */
static int32_t tail_end(struct reducer *r)
{
	const uint32_t *end = r->id + r->items;
	int32_t length, loops = 0;

	for (length = 1; length <= REACH && length < r->items && loops < NEAR_LOOPS; length++) {
		uint32_t loop = end[-1 - length];

		if (loop < LOOP)
			continue;
		loops++;
		for (; length > 1 && loop >= LOOP; loop = last_of(&r->bodies, loop)) {
			const struct body *body = body_of(&r->bodies, loop);
			const uint32_t *tail = ids_of(&r->bodies, body) + body->length - length;

			if (body->length > length && tail[length - 1] == end[-1] &&
			    equal(tail, end - length, length))
				return define(&r->bodies, end - length, length, DEEPEST);
		}
	}
	return -1;
}

/* Returns how many symbols ahead equal those a distance before them. */
static int64_t equal_symbols(const int32_t *ahead, int64_t left, int64_t distance, int64_t enough)
{
	int64_t count = 0, block = 1024;

	if (left > enough)
		left = enough;
	while (count + block <= left &&
	       !memcmp(ahead + count, ahead + count - distance, (size_t)block * sizeof(*ahead)))
		count += block;
	while (count < left && ahead[count] == ahead[count - distance])
		count++;
	return count;
}

/* Reads iterations ahead that equal the last one, and counts them in its counters. */
static int32_t equal_ahead(struct reducer *r, int32_t start, int32_t size)
{
	const int32_t *ahead = r->symbols + r->read;
	int64_t length = r->read - start, left = r->length - r->read, times;
	struct counter *last = r->counter + r->counters - size;
	int32_t i;

	/* One iteration first: most that differ do so early, and time must stay linear. */
	if (equal_symbols(ahead, left, length, length) < length)
		return 0;
	for (i = 0; i < size; i++)
		if (last[i].oldest >= 0)
			return 0;
	times = equal_symbols(ahead, left, length, left) / length;
	if (times * length < left && ahead[times * length] == ahead[times * length - 1])
		times--; /* its last run goes on */
	for (i = 0; i < size; i++)
		last[i].executions *= (int32_t)times + 1;
	r->read += times * length;
	return (int32_t)times;
}

/* Puts a loop in the place of the topmost items, and of their likes below; returns its id. */
static uint32_t reduce(struct reducer *r, int32_t number, bool again, int32_t *start)
{
	const struct body *body = &r->bodies.body[number];
	int32_t size = body->counters - 1, trips, i;

	*start = r->start[r->items - body->length];
	trips = 1 + equal_ahead(r, *start, size);
	pop(r, body->length);
	if (again) {
		struct counter *later = r->counter + r->counters - size;

		for (i = 0; i < size; i++)
			append(&r->rows, later - size + i, later + i);
		r->counters -= size;
		*start = r->start[r->items - body->length];
		pop(r, body->length);
		trips++;
	}
	r->counter[r->counters++] = (struct counter){trips, 1, -1, -1};
	return LOOP + (uint32_t)number;
}

/* Reads one run and reduces the stack as far as it goes. */
static void settle_run(struct reducer *r)
{
	int32_t symbol = r->symbols[r->read], start = (int32_t)r->read;
	uint32_t item = (uint32_t)symbol;

	while (r->read < r->length && r->symbols[r->read] == symbol)
		r->read++;
	r->counter[r->counters++] = (struct counter){(int32_t)r->read - start, 1, -1, -1};
	do {
		int32_t number = -1;
		bool again = false;

		push(r, item, start);
		if (r->items < 2)
			return;
		number = known_end(r);
		if (number < 0) {
			number = repeated_end(r);
			again = number >= 0;
		}
		if (number < 0)
			number = tail_end(r);
		if (number < 0)
			return;
		item = reduce(r, number, again, &start);
	} while (!joins(r, item));
}

void skelgen_nest_free(struct skelgen_nest *nest)
{
	free(nest->body_items);
	free(nest->symbol);
	free(nest->trips_first);
	free(nest->trips);
	memset(nest, 0, sizeof(*nest));
}

static int64_t count_runs(const int32_t *symbols, int64_t length)
{
	int64_t runs = length > 0, i;

	for (i = 1; i < length; i++)
		runs += symbols[i] != symbols[i - 1];
	return runs;
}

static bool allocate(struct reducer *r)
{
	size_t runs = (size_t)count_runs(r->symbols, r->length) + 1;

	r->id = malloc(runs * sizeof(*r->id));
	r->start = malloc(runs * sizeof(*r->start));
	r->prefix = malloc((runs + 1) * sizeof(*r->prefix));
	r->power = malloc((runs + 1) * sizeof(*r->power));
	r->older = malloc((runs + 1) * sizeof(*r->older));
	r->bits = KEY_BITS;
	r->newest = calloc((size_t)1 << r->bits, sizeof(*r->newest));
	/* Each run brings a counter, each reduction one more and takes an item away. */
	r->counter = malloc(2 * runs * sizeof(*r->counter));
	r->rows.row = malloc(2 * runs * sizeof(*r->rows.row));
	if (!r->id || !r->start || !r->prefix || !r->power || !r->older || !r->newest ||
	    !r->counter || !r->rows.row)
		return false;
	memset(r->bodies.ending, 0xff, sizeof(r->bodies.ending));
	r->prefix[0] = 0;
	r->power[0] = 1;
	r->powers = 1;
	return true;
}

static void release(struct reducer *r)
{
	free(r->id);
	free(r->start);
	free(r->prefix);
	free(r->power);
	free(r->older);
	free(r->newest);
	free(r->counter);
	free(r->rows.row);
	free(r->bodies.body);
	free(r->bodies.ids);
}

/* Writes the stack; returns whether there was memory. */
static bool put_stack(const struct reducer *r, struct skelgen_nest *nest)
{
	const struct counter *end = r->counter;
	int32_t i;

	if (!nest_new(nest, 2 * (size_t)r->counters, (size_t)r->counters + (size_t)r->rows.used))
		return false;
	for (i = 0; i < r->items; i++) {
		end += counters_of(&r->bodies, r->id[i]);
		put(&r->bodies, &r->rows, r->id[i], end, nest);
	}
	return true;
}

int skelgen_fold(const int32_t *symbols, int64_t length, const struct skelgen_nest *known,
		 int32_t depth, struct skelgen_nest *nest)
{
	struct reducer r = {.symbols = symbols, .length = length};
	bool done = allocate(&r);

	memset(nest, 0, sizeof(*nest));
	if (done) {
		learn_inside(&r.bodies, known, depth, r.id);
		while (r.read < r.length && !r.failed && !r.bodies.failed)
			settle_run(&r);
		done = !r.failed && !r.bodies.failed && put_stack(&r, nest);
	}
	if (!done)
		skelgen_nest_free(nest);
	release(&r);
	return done ? 0 : -1;
}

uint64_t skelgen_known(const struct skelgen_nest *known, int32_t depth)
{
	struct bodies *all = calloc(1, sizeof(*all));
	uint32_t *ids = malloc(((size_t)known->items + 1) * sizeof(*ids));
	uint64_t hash = 0;
	int64_t i;

	if (all && ids) {
		memset(all->ending, 0xff, sizeof(all->ending));
		learn_inside(all, known, depth, ids);
		for (i = 0; i < all->count; i++)
			hash = multiply(hash, BASE) ^ all->body[i].hash;
		free(all->body);
		free(all->ids);
	}
	free(ids);
	free(all);
	return hash;
}
