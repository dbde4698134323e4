/*
 * Fetches the words of keys that the next runs will need; a part of fold.c.
 *
 * In a string without structure each run becomes an item, and its key is a random place in a table
 * that does not fit into caches. The keys of the next runs are known if nothing is reduced.
 */
enum {
	RUNS_AHEAD = 24,
	CACHED_BITS = 16, /* of keys whose table is in caches anyway */
};

struct prefetcher {
	int64_t place; /* in the string: the next run */
	int32_t runs;  /* read and not yet on the stack */
	uint64_t hash; /* of the last LONG runs */
	int32_t oldest;
	uint64_t term[LONG]; /* of each of these runs */
};

static void fetch_run(struct prefetcher *p, const struct reader *string, const struct stack *s)
{
	uint32_t item = (uint32_t)string->symbols[p->place];

	while (p->place < string->length && (uint32_t)string->symbols[p->place] == item)
		p->place++;
	p->runs++;
	p->hash = subtract(extend(p->hash, item),
			   multiply(p->term[p->oldest], power(&s->powers, LONG)));
	p->term[p->oldest] = item + UINT64_C(1);
	p->oldest = (p->oldest + 1) % LONG;
	__builtin_prefetch(newest_like(s, p->hash * SPREAD), 1);
}

/* Keeps ahead of the reader, who read a run. */
static void fetch_ahead(struct prefetcher *p, const struct reader *string, const struct stack *s)
{
	int steps;

	p->runs--;
	if (p->place < string->read) {
		p->place = string->read;
		p->runs = 0;
	}
	/* Near loops, the last items are not the last runs. */
	if (s->bits <= CACHED_BITS || s->near[s->items - 1].loops)
		return;
	for (steps = 0; steps < 2 && p->runs < RUNS_AHEAD && p->place < string->length; steps++)
		fetch_run(p, string, s);
}
