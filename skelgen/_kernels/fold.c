/*
 * Folds a string of symbols into nested loops. The rules are explained in the Python twin,
 * skelgen/loops/plain.py; names are the same.
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

__extension__ typedef unsigned __int128 wide;

#define LOOP 0x80000000u  /* id of loop number 0; a run's id is its symbol */
#define DEEPER UINT32_MAX /* id of what is not defined, for it is too deep */
#define PRIME ((UINT64_C(1) << 61) - 1)
#define BASE UINT64_C(0x123456789abcdef1)
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)
#define SPREAD_PAIR UINT64_C(0xd6e8feb86659fd93)

enum {
	LONG = 16,   /* items whose key finds earlier likes; shorter ones are sought one by one */
	EARLIER = 8, /* places with the same key that are tried, newest first */
	ENDING_BITS = 12,
	BODIES = 16,    /* bodies with the same end that are tried, newest first */
	REACH = 16,     /* items between a loop and the end that may repeat its body's end */
	NEAR_LOOPS = 4, /* loops in reach that are tried */
	DEEPEST = 64,   /* levels of loops */
};

/* Trip counts of one run or loop, run-length coded: the latest here, earlier ones in rows. */
struct counter {
	int32_t trips;
	int32_t executions;
	int32_t newest, oldest; /* rows, -1 without */
};

struct row {
	int32_t trips;
	int32_t executions;
	int32_t earlier; /* -1 at the oldest */
};

struct body {
	uint64_t hash;
	int64_t first; /* in body_ids */
	int32_t length;
	int32_t counters; /* of the loop around it: one for each run and loop, its own last */
	int32_t depth;
	int32_t next; /* body with the same end, -1 without */
};

struct reducer {
	const int32_t *symbols;
	int64_t length, read;
	int bits;    /* of long keys */
	bool failed; /* no memory */

	/* The stack: ids, where each begins in the string, hashes of all below. */
	int32_t items;
	uint32_t *id;
	int32_t *start;
	uint64_t *prefix;
	uint64_t *power; /* of BASE; as many as the stack was ever high */
	int32_t powers;
	/* Newest height with each key of its topmost LONG items, and the next lower of each. */
	int32_t *newest;
	int32_t *older;
	/* Counters of all items, those of an item together. */
	int32_t counters;
	struct counter *counter;
	int32_t rows;
	struct row *row;

	struct body *body;
	int64_t bodies, body_room;
	uint32_t *body_ids;
	int64_t body_ids_used, body_ids_room;
	int32_t *ending; /* newest body whose last two items have a key */
};

static uint64_t multiply(uint64_t a, uint64_t b)
{
	wide product = (wide)a * b;
	uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);

	return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t extend(uint64_t hash, uint32_t id)
{
	uint64_t sum = multiply(hash, BASE) + id + 1;

	return sum >= PRIME ? sum - PRIME : sum;
}

/* Hash of the topmost items below a height. */
static uint64_t stretch(const struct reducer *r, int32_t height, int32_t length)
{
	uint64_t below = multiply(r->prefix[height - length], r->power[length]);
	uint64_t hash = r->prefix[height];

	return hash >= below ? hash - below : hash + PRIME - below;
}

static uint64_t pair_key(uint32_t before, uint32_t last)
{
	return (before * SPREAD + last) * SPREAD_PAIR >> (64 - ENDING_BITS);
}

static uint64_t top_pair(const struct reducer *r)
{
	return pair_key(r->id[r->items - 2], r->id[r->items - 1]);
}

static uint64_t long_key(const struct reducer *r, int32_t height)
{
	return stretch(r, height, LONG) * SPREAD >> (64 - r->bits);
}

/* Rows of trip counts. */

static void shelve(struct reducer *r, struct counter *counter)
{
	int32_t row = r->rows++;

	r->row[row] = (struct row){counter->trips, counter->executions, counter->newest};
	counter->newest = row;
	if (counter->oldest < 0)
		counter->oldest = row;
}

/* Appends the rows of later executions. */
static void append(struct reducer *r, struct counter *counter, const struct counter *later)
{
	if (later->oldest < 0) {
		if (counter->trips == later->trips) {
			counter->executions += later->executions;
			return;
		}
		shelve(r, counter);
	} else if (r->row[later->oldest].trips == counter->trips) {
		r->row[later->oldest].executions += counter->executions;
		r->row[later->oldest].earlier = counter->newest;
		if (counter->oldest < 0)
			counter->oldest = later->oldest;
		counter->newest = later->newest;
	} else {
		shelve(r, counter);
		r->row[later->oldest].earlier = counter->newest;
		counter->newest = later->newest;
	}
	counter->trips = later->trips;
	counter->executions = later->executions;
}

/* Adds trips to the last execution. */
static void lengthen(struct reducer *r, struct counter *counter, int32_t trips)
{
	if (counter->executions > 1) {
		counter->executions--;
		shelve(r, counter);
		counter->executions = 1;
	}
	counter->trips += trips;
}

/* Bodies. */

static const struct body *body_of(const struct reducer *r, uint32_t item)
{
	return &r->body[item - LOOP];
}

static const uint32_t *ids_of(const struct reducer *r, const struct body *body)
{
	return r->body_ids + body->first;
}

static uint32_t last_of(const struct reducer *r, uint32_t loop)
{
	const struct body *body = body_of(r, loop);

	return r->body_ids[body->first + body->length - 1];
}

static int32_t counters_of(const struct reducer *r, uint32_t item)
{
	return item < LOOP ? 1 : body_of(r, item)->counters;
}

static bool equal(const uint32_t *a, const uint32_t *b, int32_t length)
{
	return !memcmp(a, b, (size_t)length * sizeof(*a));
}

/* Returns whether the array has room for one index more, after enlarging it where needed. */
static bool grow(void **array, int64_t *room, int64_t needed, size_t size)
{
	void *larger;

	if (needed <= *room)
		return true;
	needed += needed / 2 + 64;
	larger = realloc(*array, (size_t)needed * size);
	if (!larger)
		return false;
	*array = larger;
	*room = needed;
	return true;
}

/* Returns the number of a body, after defining it where needed; -1 when it is too deep. */
static int32_t define(struct reducer *r, const uint32_t *ids, int32_t length, int32_t deepest)
{
	int32_t *newest = &r->ending[pair_key(ids[length - 2], ids[length - 1])];
	struct body body = {.length = length, .counters = 1, .depth = 1, .next = *newest};
	int32_t i, number;

	for (i = 0, number = *newest; i < BODIES && number >= 0; i++, number = r->body[number].next)
		if (r->body[number].length == length &&
		    equal(ids_of(r, &r->body[number]), ids, length))
			return number;
	for (i = 0; i < length; i++) {
		body.hash = extend(body.hash, ids[i]);
		body.counters += counters_of(r, ids[i]);
		if (ids[i] >= LOOP && body_of(r, ids[i])->depth >= body.depth)
			body.depth = body_of(r, ids[i])->depth + 1;
	}
	if (body.depth > deepest)
		return -1;
	body.first = r->body_ids_used;
	if (!grow((void **)&r->body, &r->body_room, r->bodies + 1, sizeof(*r->body)) ||
	    !grow((void **)&r->body_ids, &r->body_ids_room, body.first + length, sizeof(*ids))) {
		r->failed = true;
		return -1;
	}
	memcpy(r->body_ids + body.first, ids, (size_t)length * sizeof(*ids));
	r->body_ids_used += length;
	r->body[r->bodies] = body;
	*newest = (int32_t)r->bodies;
	return (int32_t)r->bodies++;
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
	int32_t size = counters_of(r, item), i;
	struct counter *later = r->counter + r->counters - size, *to = later - size;
	uint32_t below;

	if (!r->items)
		return false;
	for (below = r->id[r->items - 1]; below != item; below = last_of(r, below), to--)
		if (below < LOOP)
			return false;
	for (i = 0; i < size - 1; i++)
		append(r, to + i, later + i);
	lengthen(r, to + i, later[i].trips);
	r->counters -= size;
	return true;
}

static int32_t known_end(const struct reducer *r)
{
	int32_t number = r->ending[top_pair(r)], found = -1, tries;

	for (tries = 0; tries < BODIES && number >= 0; tries++) {
		const struct body *body = &r->body[number];
		int32_t length = body->length;

		if (length <= r->items && (found < 0 || length < r->body[found].length) &&
		    stretch(r, r->items, length) == body->hash &&
		    equal(ids_of(r, body), r->id + r->items - length, length))
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
			return define(r, end - length, length, DEEPEST);
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
			return define(r, end - length, length, DEEPEST);
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
		for (; length > 1 && loop >= LOOP; loop = last_of(r, loop)) {
			const struct body *body = body_of(r, loop);
			const uint32_t *tail = ids_of(r, body) + body->length - length;

			if (body->length > length && tail[length - 1] == end[-1] &&
			    equal(tail, end - length, length))
				return define(r, end - length, length, DEEPEST);
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
	const struct body *body = &r->body[number];
	int32_t size = body->counters - 1, trips, i;

	*start = r->start[r->items - body->length];
	trips = 1 + equal_ahead(r, *start, size);
	pop(r, body->length);
	if (again) {
		struct counter *later = r->counter + r->counters - size;

		for (i = 0; i < size; i++)
			append(r, later - size + i, later + i);
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

/* Nests. */

/* Defines the body of an item of a nest, inner ones first; returns its id. */
static uint32_t learn(struct reducer *r, const struct skelgen_nest *nest, int64_t item,
		      int32_t depth)
{
	int64_t end = item + 1 + nest->body_items[item], inner;
	int32_t first = r->items, length, number;
	bool deeper = false;

	if (nest->symbol[item] >= 0)
		return (uint32_t)nest->symbol[item];
	for (inner = item + 1; inner < end; inner += 1 + nest->body_items[inner]) {
		uint32_t id = learn(r, nest, inner, depth);

		deeper |= id == DEEPER;
		r->id[r->items++] = id;
	}
	length = r->items - first;
	r->items = first;
	if (deeper)
		return DEEPER;
	if (length == 1)
		return r->id[first];
	number = define(r, r->id + first, length, depth);
	return number < 0 ? DEEPER : LOOP + (uint32_t)number;
}

/* The outermost bodies are not learned: they are found again, and then begin at the right item. */
static void learn_inside(struct reducer *r, const struct skelgen_nest *nest, int32_t depth)
{
	int64_t item = 0, end;

	while (item < nest->items)
		for (end = item + 1 + nest->body_items[item], item++; item < end;
		     item += 1 + nest->body_items[item])
			learn(r, nest, item, depth);
}

/* Writes the rows of a counter, oldest first; returns false for a symbol that always ran once. */
static bool put_rows(const struct reducer *r, const struct counter *counter, bool loop,
		     struct skelgen_nest *nest)
{
	int64_t *first = nest->trips + 2 * nest->rows, *last = first, *next;
	int32_t row, rows = 1;

	for (row = counter->newest; row >= 0; row = r->row[row].earlier)
		rows++;
	next = first + 2 * rows;
	*--next = counter->executions;
	*--next = counter->trips;
	for (row = counter->newest; row >= 0; row = r->row[row].earlier) {
		*--next = r->row[row].executions;
		*--next = r->row[row].trips;
	}
	/* Neighbours with equal trips become one. */
	for (next += 2; next < first + 2 * rows; next += 2) {
		if (next[0] == last[0]) {
			last[1] += next[1];
		} else {
			last += 2;
			last[0] = next[0];
			last[1] = next[1];
		}
	}
	if (!loop && last == first && first[0] == 1)
		return false;
	nest->rows += (last - first) / 2 + 1;
	return true;
}

static int64_t put_item(struct skelgen_nest *nest, int32_t symbol)
{
	nest->body_items[nest->items] = 0;
	nest->symbol[nest->items] = symbol;
	nest->trips_first[nest->items + 1] = nest->rows;
	return nest->items++;
}

/* Writes an item of the stack whose counters end below a height. */
static void put(const struct reducer *r, uint32_t item, int32_t height, struct skelgen_nest *nest)
{
	bool loop = put_rows(r, &r->counter[height - 1], item >= LOOP, nest);
	int64_t place = loop ? put_item(nest, -1) : -1;
	int32_t i;

	if (item < LOOP) {
		put_item(nest, (int32_t)item);
	} else {
		const struct body *body = body_of(r, item);
		const uint32_t *ids = ids_of(r, body);

		height -= body->counters;
		for (i = 0; i < body->length; i++) {
			height += counters_of(r, ids[i]);
			put(r, ids[i], height, nest);
		}
	}
	if (loop)
		nest->body_items[place] = (int32_t)(nest->items - place - 1);
}

static bool put_stack(const struct reducer *r, struct skelgen_nest *nest)
{
	size_t items = 2 * (size_t)r->counters, rows = (size_t)r->counters + (size_t)r->rows;
	int32_t i, height = 0;

	nest->body_items = malloc((items + 1) * sizeof(*nest->body_items));
	nest->symbol = malloc((items + 1) * sizeof(*nest->symbol));
	nest->trips_first = malloc((items + 1) * sizeof(*nest->trips_first));
	nest->trips = malloc((rows + 1) * 2 * sizeof(*nest->trips));
	if (!nest->body_items || !nest->symbol || !nest->trips_first || !nest->trips)
		return false;
	nest->trips_first[0] = 0;
	for (i = 0; i < r->items; i++) {
		height += counters_of(r, r->id[i]);
		put(r, r->id[i], height, nest);
	}
	return true;
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
	size_t ends = (size_t)1 << ENDING_BITS;

	r->id = malloc(runs * sizeof(*r->id));
	r->start = malloc(runs * sizeof(*r->start));
	r->prefix = malloc((runs + 1) * sizeof(*r->prefix));
	r->power = malloc((runs + 1) * sizeof(*r->power));
	r->older = malloc((runs + 1) * sizeof(*r->older));
	r->bits = 10;
	r->newest = calloc((size_t)1 << r->bits, sizeof(*r->newest));
	r->ending = malloc(ends * sizeof(*r->ending));
	/* Each run brings a counter, each reduction one more and takes an item away. */
	r->counter = malloc(2 * runs * sizeof(*r->counter));
	r->row = malloc(2 * runs * sizeof(*r->row));
	if (!r->id || !r->start || !r->prefix || !r->power || !r->older || !r->newest ||
	    !r->ending || !r->counter || !r->row)
		return false;
	memset(r->ending, 0xff, ends * sizeof(*r->ending));
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
	free(r->ending);
	free(r->counter);
	free(r->row);
	free(r->body);
	free(r->body_ids);
}

int skelgen_fold(const int32_t *symbols, int64_t length, const struct skelgen_nest *known,
		 int32_t depth, struct skelgen_nest *nest)
{
	struct reducer r = {.symbols = symbols, .length = length};
	bool done = allocate(&r);

	memset(nest, 0, sizeof(*nest));
	if (done) {
		learn_inside(&r, known, depth);
		while (r.read < r.length && !r.failed)
			settle_run(&r);
		done = !r.failed && put_stack(&r, nest);
	}
	if (!done)
		skelgen_nest_free(nest);
	release(&r);
	return done ? 0 : -1;
}
