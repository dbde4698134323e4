/*
 * A hashed stack reducer: a stack of leaves and loops that is kept irreducible.
 *
 * Every item has an id: the symbol of a leaf, or the class of a loop, which is its body
 * without trip counts. Prefix hashes over the ids compare any two stretches of the stack in
 * O(1); each hit is verified id by id. After each push the top of the stack is reduced:
 *
 *   extend  the top equals the body of the loop just below it, or of the loop that this
 *           one ends in: one trip more
 *   join    the same loop twice in a row: one loop
 *   known   the top equals a body seen before: a loop of one trip, so that it matches
 *           its siblings that had more
 *   repeat  the top equals what stands before it: a loop of two trips
 *
 * A loop keeps the trip counts of all its executions, run-length coded, so that nothing is
 * lost when equal loops become one.
 */
#include <stdlib.h>
#include <string.h>
#include "fold.h"

enum { NONE = -1, CHAIN = 8, DUE = 8, GRAM = 4 };

/* A loop in the tree; a leaf has none. */
struct node {
	int32_t class, *child; /* child: node of each item of the body, NONE for leaves */
	int64_t (*runs)[2];    /* trips, executions in a row */
	int32_t run_count, run_room;
};

struct class {
	uint64_t hash;
	int64_t body;              /* first id in `bodies` */
	int32_t length, last_same; /* the class made before with the same last id */
	int32_t next_hash;
};

struct item {
	int32_t id, node, previous_gram, due; /* due: first entry that may be complete here */
};

struct due {
	int32_t loop, node, next; /* node: the loop itself or one that it ends in */
};

struct skelgen_fold {
	int64_t size, room; /* of the stack */
	struct item *stack;
	uint64_t *prefix, *power; /* prefix[i]: hash of the first i ids */
	int32_t *due_at;          /* by stack index, `due_room` of them */
	int64_t due_room;
	struct due *due;
	int64_t due_count, due_capacity;
	int32_t due_free;
	struct node *nodes;
	int32_t node_count, node_room, node_free;
	struct class *classes;
	int32_t class_count, class_room, symbols;
	int32_t *bodies;
	int64_t bodies_size, bodies_room;
	int32_t *last_class; /* by id: class made last whose body ends in it */
	int64_t last_room;
	int32_t *by_hash, *grams; /* tables of powers of two */
	uint64_t by_hash_mask, gram_mask;
	int64_t items, rows; /* of the finished nest */
	int failed;
};

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15U;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
	return x ^ (x >> 31);
}

static const uint64_t base = 0x2545f4914f6cdd1dU;

static void *grown(struct skelgen_fold *f, void *memory, size_t bytes)
{
	void *moved = realloc(memory, bytes);
	if (!moved)
		f->failed = 1;
	return moved ? moved : memory;
}

static uint64_t hash_of(const struct skelgen_fold *f, int64_t begin, int64_t end)
{
	return f->prefix[end] - f->prefix[begin] * f->power[end - begin];
}

static int64_t trips_of(const struct skelgen_fold *f, int32_t node)
{
	return f->nodes[node].runs[0][0];
}

/* ---- nodes ---- */

static void add_run(struct skelgen_fold *f, struct node *n, int64_t trips, int64_t executions)
{
	if (n->run_count && n->runs[n->run_count - 1][0] == trips) {
		n->runs[n->run_count - 1][1] += executions;
		return;
	}
	if (n->run_count == n->run_room) {
		int32_t room = n->run_room ? 2 * n->run_room : 1;
		n->runs = grown(f, n->runs, (size_t)room * sizeof(*n->runs));
		if (f->failed)
			return;
		n->run_room = room;
	}
	n->runs[n->run_count][0] = trips;
	n->runs[n->run_count++][1] = executions;
}

static int32_t new_node(struct skelgen_fold *f, int32_t class, int64_t trips)
{
	int32_t at = f->node_free;

	if (at != NONE) {
		f->node_free = f->nodes[at].class;
	} else {
		if (f->node_count == f->node_room) {
			int32_t room = f->node_room ? 2 * f->node_room : 256;
			f->nodes = grown(f, f->nodes, (size_t)room * sizeof(*f->nodes));
			if (f->failed)
				return NONE;
			f->node_room = room;
		}
		at = f->node_count++;
		memset(&f->nodes[at], 0, sizeof(f->nodes[at]));
	}
	struct node *n = &f->nodes[at];
	n->class = class;
	n->run_count = 0;
	n->child = malloc((size_t)f->classes[class].length * sizeof(*n->child));
	if (!n->child)
		f->failed = 1;
	add_run(f, n, trips, 1);
	return at;
}

static void free_node(struct skelgen_fold *f, int32_t at)
{
	free(f->nodes[at].child);
	f->nodes[at].child = NULL;
	if (f->nodes[at].run_room > 16) {
		free(f->nodes[at].runs);
		f->nodes[at].runs = NULL;
		f->nodes[at].run_room = 0;
	}
	f->nodes[at].class = f->node_free;
	f->node_free = at;
}

/* Append the executions of `from`, of the same class, to those of `to`; frees `from`. */
static void absorb(struct skelgen_fold *f, int32_t to, int32_t from)
{
	int32_t length = f->classes[f->nodes[from].class].length;

	for (int32_t i = 0; i < length; i++)
		if (f->nodes[from].child[i] != NONE)
			absorb(f, f->nodes[to].child[i], f->nodes[from].child[i]);
	for (int32_t i = 0; i < f->nodes[from].run_count && !f->failed; i++)
		add_run(f, &f->nodes[to], f->nodes[from].runs[i][0], f->nodes[from].runs[i][1]);
	free_node(f, from);
}

/* The last execution of a loop took `more` trips more than was known. */
static void lengthen(struct skelgen_fold *f, int32_t node, int64_t more)
{
	struct node *n = &f->nodes[node];
	int64_t trips = n->runs[n->run_count - 1][0];

	if (--n->runs[n->run_count - 1][1] == 0)
		n->run_count--;
	add_run(f, n, trips + more, 1);
}

/* ---- the stack ---- */

static void make_room(struct skelgen_fold *f)
{
	int64_t room = 2 * f->room;

	f->stack = grown(f, f->stack, (size_t)room * sizeof(*f->stack));
	f->prefix = grown(f, f->prefix, ((size_t)room + 1) * sizeof(*f->prefix));
	f->power = grown(f, f->power, ((size_t)room + 1) * sizeof(*f->power));
	f->due_at = grown(f, f->due_at, 2 * (size_t)room * sizeof(*f->due_at));
	if (f->failed)
		return;
	for (int64_t i = f->room; i < room; i++)
		f->power[i + 1] = f->power[i] * base;
	for (int64_t i = f->due_room; i < 2 * room; i++)
		f->due_at[i] = NONE;
	f->due_room = 2 * room;
	f->room = room;
}

/* Watch for the body of `node`, where the loop at `loop` ends, right after that loop. */
static void watch(struct skelgen_fold *f, int32_t loop, int32_t node)
{
	int64_t at = loop + f->classes[f->nodes[node].class].length;
	int32_t entry = f->due_free;

	if (entry != NONE) {
		f->due_free = f->due[entry].next;
	} else {
		if (f->due_count == f->due_capacity) {
			f->due_capacity = f->due_capacity ? 2 * f->due_capacity : 256;
			f->due = grown(f, f->due, (size_t)f->due_capacity * sizeof(*f->due));
			if (f->failed)
				return;
		}
		entry = (int32_t)f->due_count++;
	}
	f->due[entry] = (struct due){loop, node, f->due_at[at]};
	f->due_at[at] = entry;
}

/* The loop that a loop's body ends in, or NONE. */
static int32_t tail_of(const struct skelgen_fold *f, int32_t node)
{
	return f->nodes[node].child[f->classes[f->nodes[node].class].length - 1];
}

static uint64_t gram_at(const struct skelgen_fold *f, int64_t end)
{
	return hash_of(f, end - GRAM, end) & f->gram_mask;
}

static void push(struct skelgen_fold *f, int32_t id, int32_t node)
{
	if (f->size == f->room)
		make_room(f);
	if (f->failed)
		return;
	int64_t at = f->size++;
	f->stack[at] = (struct item){id, node, NONE, 0};
	f->prefix[at + 1] = f->prefix[at] * base + mix((uint64_t)id);
	if (f->size >= GRAM) {
		int32_t *slot = &f->grams[gram_at(f, f->size)];
		f->stack[at].previous_gram = *slot;
		*slot = (int32_t)at;
	}
	for (; node != NONE; node = tail_of(f, node))
		watch(f, (int32_t)at, node);
}

/* Take the top items off; the nodes stay with the caller. */
static void pop(struct skelgen_fold *f, int64_t count)
{
	while (count--) {
		int64_t at = f->size - 1;
		if (f->size >= GRAM)
			f->grams[gram_at(f, f->size)] = f->stack[at].previous_gram;
		for (int32_t node = f->stack[at].node; node != NONE; node = tail_of(f, node)) {
			int64_t place = at + f->classes[f->nodes[node].class].length;
			int32_t entry = f->due_at[place];
			f->due_at[place] = f->due[entry].next;
			f->due[entry].next = f->due_free;
			f->due_free = entry;
		}
		f->size = at;
	}
}

/* ---- classes ---- */

static int body_is(const struct skelgen_fold *f, const struct class *c, int64_t begin)
{
	for (int32_t i = 0; i < c->length; i++)
		if (f->bodies[c->body + i] != f->stack[begin + i].id)
			return 0;
	return 1;
}

static void rehash_classes(struct skelgen_fold *f)
{
	uint64_t slots = 2 * (f->by_hash_mask + 1);

	f->by_hash = grown(f, f->by_hash, slots * sizeof(*f->by_hash));
	if (f->failed)
		return;
	f->by_hash_mask = slots - 1;
	memset(f->by_hash, 0xff, slots * sizeof(*f->by_hash));
	for (int32_t c = 0; c < f->class_count; c++) {
		int32_t *slot = &f->by_hash[f->classes[c].hash & f->by_hash_mask];
		f->classes[c].next_hash = *slot;
		*slot = c;
	}
}

static void reserve_class(struct skelgen_fold *f, int32_t length)
{
	if (f->class_count == f->class_room) {
		f->class_room = f->class_room ? 2 * f->class_room : 64;
		f->classes = grown(f, f->classes, (size_t)f->class_room * sizeof(*f->classes));
	}
	while (f->bodies_size + length > f->bodies_room) {
		f->bodies_room = f->bodies_room ? 2 * f->bodies_room : 1024;
		f->bodies = grown(f, f->bodies, (size_t)f->bodies_room * sizeof(*f->bodies));
	}
	while (f->symbols + f->class_count >= f->last_room) {
		int64_t room = 2 * f->last_room;
		f->last_class = grown(f, f->last_class, (size_t)room * sizeof(*f->last_class));
		if (f->failed)
			return;
		for (int64_t i = f->last_room; i < room; i++)
			f->last_class[i] = NONE;
		f->last_room = room;
	}
	if ((uint64_t)f->class_count > f->by_hash_mask)
		rehash_classes(f);
}

/* The class of a loop whose body stands on the stack. */
static int32_t class_of(struct skelgen_fold *f, int64_t begin, int32_t length)
{
	uint64_t hash = hash_of(f, begin, begin + length);

	for (int32_t c = f->by_hash[hash & f->by_hash_mask]; c != NONE; c = f->classes[c].next_hash)
		if (f->classes[c].hash == hash && f->classes[c].length == length &&
		    body_is(f, &f->classes[c], begin))
			return c;
	reserve_class(f, length);
	if (f->failed)
		return NONE;
	int32_t last = f->stack[begin + length - 1].id, made = f->class_count++;
	int32_t *slot = &f->by_hash[hash & f->by_hash_mask];
	f->classes[made] = (struct class){hash, f->bodies_size, length, f->last_class[last], *slot};
	*slot = made;
	f->last_class[last] = made;
	for (int32_t i = 0; i < length; i++)
		f->bodies[f->bodies_size++] = f->stack[begin + i].id;
	return made;
}

/* ---- reductions; each returns whether it changed the stack ---- */

static int extend(struct skelgen_fold *f)
{
	int64_t top = f->size - 1;
	int tries = DUE;

	for (int32_t e = f->due_at[top]; e != NONE && tries--; e = f->due[e].next) {
		struct due d = f->due[e];
		int32_t class = f->nodes[d.node].class, length = f->classes[class].length;
		int64_t begin = d.loop + 1;
		if (hash_of(f, begin, f->size) != f->classes[class].hash ||
		    !body_is(f, &f->classes[class], begin))
			continue;
		int32_t *given = malloc((size_t)length * sizeof(*given));
		if (!given) {
			f->failed = 1;
			return 0;
		}
		for (int32_t i = 0; i < length; i++)
			given[i] = f->stack[begin + i].node;
		pop(f, length);
		for (int32_t i = 0; i < length; i++)
			if (given[i] != NONE)
				absorb(f, f->nodes[d.node].child[i], given[i]);
		free(given);
		lengthen(f, d.node, 1);
		return 1;
	}
	return 0;
}

static int join(struct skelgen_fold *f)
{
	int64_t top = f->size - 1;

	if (top < 1 || f->stack[top].node == NONE)
		return 0;
	int32_t upper = f->stack[top].node;
	for (int32_t node = f->stack[top - 1].node; node != NONE; node = tail_of(f, node)) {
		if (f->nodes[node].class != f->nodes[upper].class)
			continue;
		int64_t trips = trips_of(f, upper);
		pop(f, 1);
		f->nodes[upper].run_count = 0;
		absorb(f, node, upper);
		lengthen(f, node, trips);
		return 1;
	}
	return 0;
}

/* Replace the top by a loop over it with `trips` equal stretches of `length`. */
static void wrap(struct skelgen_fold *f, int32_t class, int32_t length, int32_t trips)
{
	int64_t begin = f->size - (int64_t)length * trips;
	int32_t node = new_node(f, class, trips);

	if (f->failed)
		return;
	int32_t *second = malloc((size_t)length * sizeof(*second));
	if (!second) {
		f->failed = 1;
		return;
	}
	for (int32_t i = 0; i < length; i++) {
		f->nodes[node].child[i] = f->stack[begin + i].node;
		second[i] = trips == 2 ? f->stack[begin + length + i].node : NONE;
	}
	pop(f, (int64_t)length * trips);
	for (int32_t i = 0; i < length; i++)
		if (second[i] != NONE)
			absorb(f, f->nodes[node].child[i], second[i]);
	free(second);
	push(f, f->symbols + class, node);
}

static int known(struct skelgen_fold *f)
{
	int32_t id = f->stack[f->size - 1].id;
	int tries = CHAIN;

	for (int32_t c = f->last_class[id]; c != NONE && tries--; c = f->classes[c].last_same) {
		int32_t length = f->classes[c].length;
		if (length > f->size ||
		    hash_of(f, f->size - length, f->size) != f->classes[c].hash ||
		    !body_is(f, &f->classes[c], f->size - length))
			continue;
		wrap(f, c, length, 1);
		return 1;
	}
	return 0;
}

static int repeats(const struct skelgen_fold *f, int64_t length)
{
	int64_t middle = f->size - length;

	if (2 * length > f->size || (length == 1 && f->stack[f->size - 1].node != NONE) ||
	    hash_of(f, middle - length, middle) != hash_of(f, middle, f->size))
		return 0;
	for (int64_t i = 0; i < length; i++)
		if (f->stack[middle - length + i].id != f->stack[middle + i].id)
			return 0;
	return 1;
}

static int repeat(struct skelgen_fold *f)
{
	int64_t found = 0, top = f->size - 1;

	for (int64_t length = 1; length < GRAM && !found; length++)
		if (repeats(f, length))
			found = length;
	int tries = CHAIN;
	if (f->size >= GRAM)
		for (int32_t at = f->stack[top].previous_gram; at != NONE && !found && tries--;
		     at = f->stack[at].previous_gram)
			if (repeats(f, top - at))
				found = top - at;
	if (!found)
		return 0;
	int32_t class = class_of(f, f->size - found, (int32_t)found);
	if (f->failed)
		return 0;
	wrap(f, class, (int32_t)found, 2);
	return 1;
}

static void reduce(struct skelgen_fold *f)
{
	while (!f->failed && f->size) {
		if (extend(f) || join(f))
			return;
		if (!known(f) && !repeat(f))
			return;
	}
}

/* ---- the finished nest ---- */

/* Whether every execution of a loop had one trip: then it is its body. */
static int is_plain(const struct node *n)
{
	return n->run_count == 1 && n->runs[0][0] == 1;
}

struct nest {
	int32_t *body_items, *symbol;
	int64_t *trips_first, *trips, items, rows;
};

static void emit(const struct skelgen_fold *f, int32_t id, int32_t at, struct nest *out)
{
	int64_t own = out->items;

	if (at == NONE || !is_plain(&f->nodes[at])) {
		if (out->symbol) {
			out->symbol[own] = at == NONE ? id : NONE;
			out->body_items[own] = 0;
			out->trips_first[own] = out->rows;
		}
		out->items++;
	}
	if (at == NONE)
		return;
	const struct node *n = &f->nodes[at];
	if (!is_plain(n)) {
		if (out->symbol)
			memcpy(&out->trips[2 * out->rows], n->runs,
			       (size_t)n->run_count * sizeof(*n->runs));
		out->rows += n->run_count;
	}
	const struct class *c = &f->classes[n->class];
	for (int32_t i = 0; i < c->length; i++)
		emit(f, f->bodies[c->body + i], n->child[i], out);
	if (!is_plain(n) && out->symbol)
		out->body_items[own] = (int32_t)(out->items - own - 1);
}

static void emit_all(const struct skelgen_fold *f, struct nest *out)
{
	for (int64_t i = 0; i < f->size; i++)
		emit(f, f->stack[i].id, f->stack[i].node, out);
}

/* ---- interface ---- */

static int prepare(struct skelgen_fold *f, const int32_t *symbols, int64_t n)
{
	uint64_t slots = 1024;

	while (slots < (uint64_t)n / 2 && slots < (1U << 22))
		slots *= 2;
	for (int64_t i = 0; i < n; i++)
		if (symbols[i] >= f->symbols)
			f->symbols = symbols[i] + 1;
	f->node_free = f->due_free = NONE;
	f->grams = malloc(slots * sizeof(*f->grams));
	f->gram_mask = slots - 1;
	f->by_hash_mask = 31;
	f->room = 512;
	f->last_room = f->symbols + 64;
	f->last_class = malloc((size_t)f->last_room * sizeof(*f->last_class));
	if (!f->grams || !f->last_class)
		return 0;
	memset(f->grams, 0xff, slots * sizeof(*f->grams));
	memset(f->last_class, 0xff, (size_t)f->last_room * sizeof(*f->last_class));
	rehash_classes(f);
	f->power = malloc(((size_t)f->room + 1) * sizeof(*f->power));
	if (!f->power)
		return 0;
	f->power[0] = 1;
	for (int64_t i = 0; i < f->room; i++)
		f->power[i + 1] = f->power[i] * base;
	make_room(f);
	if (!f->failed)
		f->prefix[0] = 0;
	return !f->failed;
}

struct skelgen_fold *skelgen_fold(const int32_t *symbols, int64_t n)
{
	struct skelgen_fold *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	if (!prepare(f, symbols, n)) {
		skelgen_fold_release(f);
		return NULL;
	}
	for (int64_t i = 0; i < n && !f->failed; i++) {
		push(f, symbols[i], NONE);
		reduce(f);
	}
	if (f->failed) {
		skelgen_fold_release(f);
		return NULL;
	}
	struct nest measure = {0};
	emit_all(f, &measure);
	f->items = measure.items;
	f->rows = measure.rows;
	return f;
}

int64_t skelgen_fold_items(const struct skelgen_fold *f)
{
	return f->items;
}

int64_t skelgen_fold_trip_rows(const struct skelgen_fold *f)
{
	return f->rows;
}

void skelgen_fold_take(struct skelgen_fold *f, int32_t *body_items, int32_t *symbol,
		       int64_t *trips_first, int64_t *trips)
{
	struct nest out = {body_items, symbol, trips_first, trips, 0, 0};

	emit_all(f, &out);
	trips_first[out.items] = out.rows;
	skelgen_fold_release(f);
}

void skelgen_fold_release(struct skelgen_fold *f)
{
	for (int32_t i = 0; i < f->node_count; i++) {
		free(f->nodes[i].child);
		free(f->nodes[i].runs);
	}
	free(f->stack);
	free(f->prefix);
	free(f->power);
	free(f->due_at);
	free(f->due);
	free(f->nodes);
	free(f->classes);
	free(f->bodies);
	free(f->last_class);
	free(f->by_hash);
	free(f->grams);
	free(f);
}

/* ---- expansion ---- */

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

int64_t skelgen_fold_expand(int64_t items, const int32_t *body_items, const int32_t *symbol,
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
