/*
 * Folds a string of symbols into nested loops. The rules are explained in
 * skelgen/loops/kernel.py; names are those of the Python twin, tests/twins/loops_kernel.py.
 *
 * Prefix hashes compare any two stretches of the stack in constant time, and what they find is
 * verified item by item before it becomes a loop. Each symbol is pushed once, each reduction takes
 * at least one item away, and no rule tries more than a fixed number of places: time is linear.
 */
#define _DEFAULT_SOURCE /* madvise */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fold.h"
#include "fold_memory.h"
#include "fold_counters.h"
#include "fold_bodies.h"
#include "fold_landmarks.h"
#include "fold_stack.h"
#include "fold_ahead.h"
#include "fold_again.h"
#include "fold_nests.h"

enum {
	NEAR_LOOPS = 4, /* loops in reach that are tried */
	DEEPEST = 64,   /* levels of loops */
	MANY = 512,     /* items of a new body whose counts may vary when iterations are counted */
};

struct skelgen_folding {
	struct reader string;
	struct stack stack;
	/* Counters of all items, those of an item together. */
	struct counter *counter;
	int32_t counters;
	struct rows rows;
	struct bodies bodies;
	int64_t patience; /* what must be read before items are copied */
};

/* Rules. Those that find return the number of a body that the stack ends with, or -1. */

/* Adds the topmost counters to an equal item at the end of what lies below. */
static bool joins(struct skelgen_folding *r, uint32_t item)
{
	int32_t size = counters_of(&r->bodies, item), end = r->counters - size, i;
	struct counter *later = r->counter + end;
	const struct stack *s = &r->stack;
	struct counter *to;
	uint32_t top, below;

	if (!s->items)
		return false;
	top = s->id[s->items - 1];
	for (below = top; below != item; below = last_of(&r->bodies, below), end--)
		if (below < LOOP)
			return false;
	if (top == item)
		same_reductions_ahead(&r->string, s, &body_of(&r->bodies, item)->pause, &r->rows,
				      later, size);
	to = r->counter + end - size;
	for (i = 0; i < size - 1; i++)
		append(&r->rows, to + i, later + i);
	lengthen(&r->rows, to + i, later[i].trips);
	r->counters -= size;
	begin_iteration(&r->string, s, &r->bodies.body[top - LOOP]);
	if (top != item)
		r->bodies.body[top - LOOP].pause.height = 0;
	return true;
}

/* Returns the number of the body that the topmost items are; -1 when it is too deep. */
static int32_t define_end(struct skelgen_folding *r, int32_t length)
{
	int64_t count = r->bodies.count;
	const struct stack *s = &r->stack;
	int32_t number = define(&r->bodies, s->id + s->items - length, length, DEEPEST);

	if (r->bodies.count > count)
		r->string.news = r->string.read;
	return number;
}

static int32_t known_end(const struct skelgen_folding *r)
{
	const struct stack *s = &r->stack;
	const uint32_t *end = s->id + s->items;
	int32_t number = r->bodies.ending[pair_key(end[-2], end[-1])], found = -1, tries;

	for (tries = 0; tries < BODIES && number >= 0; tries++) {
		const struct body *body = &r->bodies.body[number];
		int32_t length = body->length;

		if (same_end(body, end) && length <= s->items &&
		    (found < 0 || length < r->bodies.body[found].length) &&
		    (length < LONG || stretch(s, s->items, length) == body->hash) &&
		    equal(ids_of(&r->bodies, body), end - length, length))
			found = number;
		number = body->next;
	}
	return found;
}

/* The length of the shortest stretch from NEAR on that ends the stack twice in a row, or 0. */
static int32_t long_repeat(const struct stack *s)
{
	const struct landmarks *l = &s->landmarks;
	const uint32_t *end = s->id + s->items, *key = l->key + s->items;
	int32_t shortest = 0;
	int64_t i;

	for (i = l->landmark[l->count].first; i < l->distances; i++) {
		int32_t length = l->distance[i];

		if (2 * (int64_t)length <= s->items && (!shortest || length < shortest) &&
		    key[0] == key[-length] && key[LONG - length] == key[LONG - 2 * length] &&
		    hash_repeats(s, length) && equal(end - length, end - 2 * length, length))
			shortest = length;
	}
	return shortest;
}

/* A stretch that ends the stack twice in a row. */
static int32_t repeated_end(struct skelgen_folding *r)
{
	struct stack *s = &r->stack;
	int32_t length;

	note_end(s);
	length = short_repeat(s);
	if (!length)
		length = long_repeat(s);
	return length ? define_end(r, length) : -1;
}

/* A stretch behind a loop that also ends the loop's body. */
static int32_t tail_end(struct skelgen_folding *r)
{
	const struct stack *s = &r->stack;
	const uint32_t *end = s->id + s->items;
	uint32_t loops = s->near[s->items - 1].loops;
	int32_t tries = NEAR_LOOPS - (int32_t)(loops & 1);
	uint64_t bit = end_bit(end[-2], end[-1]);

	loops &= ~1u; /* behind the next one is too little */
	for (; loops && tries > 0; loops &= loops - 1, tries--) {
		int32_t length = 1 + __builtin_ctz(loops);
		uint32_t loop = end[-1 - length];

		if (length >= s->items)
			break;
		if (!(body_of(&r->bodies, loop)->ends & bit))
			continue;
		for (; loop >= LOOP; loop = last_of(&r->bodies, loop)) {
			const struct body *body = body_of(&r->bodies, loop);

			if (same_end(body, end) && body->length > length &&
			    equal(ids_of(&r->bodies, body) + body->length - length, end - length,
				  length))
				return define_end(r, length);
		}
	}
	return -1;
}

/* Puts a loop in the place of the topmost items, and of their likes below; returns its id. */
static uint32_t reduce(struct skelgen_folding *r, int32_t number, bool again, int32_t *start)
{
	const struct body *body = &r->bodies.body[number];
	int32_t size = body->counters - 1, trips, i;
	struct counter *last = r->counter + r->counters - size;
	struct stack *s = &r->stack;

	*start = s->start[s->items - body->length];
	trips = 1 + equal_ahead(&r->string, *start, &r->rows, last, size,
				r->string.news == r->string.read && body->length >= MANY);
	pop(s, body->length);
	if (again) {
		for (i = 0; i < size; i++)
			append(&r->rows, last - size + i, last + i);
		r->counters -= size;
		*start = s->start[s->items - body->length];
		pop(s, body->length);
		trips++;
	}
	r->counter[r->counters++] = (struct counter){trips, 1, -1, -1};
	return LOOP + (uint32_t)number;
}

/* Returns the body that the stack ends with, and whether twice; -1 without. */
static int32_t body_at_end(struct skelgen_folding *r, bool *again)
{
	int32_t number = -1;

	*again = false;
	if (r->stack.items >= 2)
		number = known_end(r);
	if (r->stack.items >= 2 && number < 0) {
		number = repeated_end(r);
		*again = number >= 0;
	}
	return number < 0 ? tail_end(r) : number;
}

/* Reads one run and reduces the stack as far as it goes. */
static void settle_run(struct skelgen_folding *r)
{
	struct reader *string = &r->string;
	int32_t symbol = string->symbols[string->read], start = (int32_t)string->read, number;
	uint32_t item = (uint32_t)symbol;
	bool again;

	while (string->read < string->length && string->symbols[string->read] == symbol)
		string->read++;
	r->counter[r->counters++] = (struct counter){(int32_t)string->read - start, 1, -1, -1};
	do {
		push(&r->stack, item, start);
		number = body_at_end(r, &again);
		if (number < 0) {
			if (item >= LOOP)
				begin_iteration(string, &r->stack, &r->bodies.body[item - LOOP]);
			return;
		}
		item = reduce(r, number, again, &start);
	} while (!joins(r, item));
}

/* Copies items, with their counters. */
static void copy(struct skelgen_folding *r, const struct again *again)
{
	struct stack *s = &r->stack;
	const uint32_t *ids = s->id + again->first;
	int32_t counters = counters_from(&r->bodies, ids, again->items), i;
	const struct counter *counter =
		r->counter + r->counters - counters_from(&r->bodies, ids, s->items - again->first);
	int32_t symbols = (int32_t)r->string.read - s->start[again->first];

	for (i = 0; i < counters; i++)
		r->counter[r->counters++] =
			counter[i].oldest < 0 ? counter[i] : copied(&r->rows, &counter[i]);
	for (i = 0; i < again->items && !s->landmarks.failed; i++)
		push_again(s, s->items, again->distance, symbols);
	r->string.read = s->start[again->first + again->items] + symbols;
	r->string.seen += symbols;
	if (r->string.seen > r->string.length)
		r->string.seen = r->string.length;
}

/* Copies what the string says again, if it is reduced as before. */
static void read_again(struct skelgen_folding *r)
{
	const struct stack *s = &r->stack;
	struct again again = {.distance = nearest_like(&s->landmarks)};

	again.first = s->items - again.distance;
	if (again.distance < ALIKE ||
	    again.first - ALIKE / 2 < highest_but(&s->landmarks, again.distance) ||
	    s->start[again.first] < r->string.news || r->bodies.longest > LONGEST)
		return;
	if (find_again(s, &r->string, &again))
		copy(r, &again);
	r->patience = r->string.read + PATIENCE;
}

void skelgen_array_free(void *array)
{
	free(array);
}

static int64_t count_runs(const int32_t *symbols, int64_t length)
{
	int64_t runs = length > 0, i;

	for (i = 1; i < length; i++)
		runs += symbols[i] != symbols[i - 1];
	return runs;
}

struct skelgen_folding *skelgen_folding_new(const int32_t *symbols, int64_t length)
{
	size_t runs = (size_t)count_runs(symbols, length) + 1;
	struct skelgen_folding *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->string = (struct reader){.symbols = symbols, .length = length};
	if (stack_new(&r->stack, runs))
		return r;
	skelgen_folding_free(r);
	return NULL;
}

void skelgen_folding_free(struct skelgen_folding *r)
{
	if (!r)
		return;
	stack_free(&r->stack);
	free(r->bodies.body);
	free(r->bodies.ids);
	free(r);
}

/* Forgets what was read; returns whether there was memory. */
static bool begin_reading(struct skelgen_folding *r)
{
	r->string.read = r->string.seen = r->string.news = r->string.far = r->patience = 0;
	r->counters = 0;
	r->rows.used = 0;
	r->bodies.count = r->bodies.ids_used = 0;
	r->bodies.longest = 0;
	memset(r->bodies.ending, 0xff, sizeof(r->bodies.ending));
	/* Each run brings a counter, each reduction one more and takes an item away. */
	r->counter = in_large_pages(2 * r->stack.room * sizeof(*r->counter), false);
	r->rows.row = malloc(2 * r->stack.room * sizeof(*r->rows.row));
	return stack_begin(&r->stack) && r->counter && r->rows.row;
}

static void forget_counters(struct skelgen_folding *r)
{
	free(r->counter);
	free(r->rows.row);
	r->counter = NULL;
	r->rows.row = NULL;
}

static bool failed(const struct skelgen_folding *r)
{
	return r->stack.landmarks.failed || r->bodies.failed;
}

/* Writes the stack; returns whether there was memory. */
static bool put_stack(const struct skelgen_folding *r, struct skelgen_nest *nest)
{
	const struct counter *end = r->counter;
	int32_t i;

	if (!nest_new(nest, 2 * (size_t)r->counters, (size_t)r->counters + (size_t)r->rows.used))
		return false;
	for (i = 0; i < r->stack.items; i++) {
		end += counters_of(&r->bodies, r->stack.id[i]);
		put(&r->bodies, &r->rows, r->stack.id[i], end, nest);
	}
	nest_shrink(nest);
	return true;
}

int skelgen_fold(struct skelgen_folding *r, const struct skelgen_nest *known, int32_t depth,
		 struct skelgen_nest *nest)
{
	bool done = begin_reading(r);

	memset(nest, 0, sizeof(*nest));
	if (done) {
		learn_inside(&r->bodies, known, depth, r->stack.id);
		while (r->string.read < r->string.length && !failed(r)) {
			settle_run(r);
			if (r->string.read >= r->patience)
				read_again(r);
		}
		done = !failed(r);
	}
	forget_likes(&r->stack);
	done = done && put_stack(r, nest);
	forget_counters(r);
	if (!done)
		nest_free(nest);
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
