/*
 * The bodies of loops, numbered as they were found; a part of fold.c.
 */
__extension__ typedef unsigned __int128 wide;

#define LOOP 0x80000000u /* id of loop number 0; a run's id is its symbol */
#define PRIME ((UINT64_C(1) << 61) - 1)
#define BASE UINT64_C(0x123456789abcdef1)
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)
#define SPREAD_PAIR UINT64_C(0xd6e8feb86659fd93)

enum {
	ENDING_BITS = 12, /* of the keys of a body's last two items */
	BODIES = 16,      /* bodies with the same end that are tried, newest first */
};

/* Where the last iteration of a loop at the end of the stack ended; none yet: height 0. */
struct pause {
	int32_t read;
	int32_t height, start; /* of the loop */
};

struct body {
	uint64_t hash;
	int64_t first; /* in ids */
	int32_t length;
	int32_t counters; /* of the loop around it: one for each run and loop, its own last */
	int32_t depth;
	int32_t next;          /* body with the same end, -1 without */
	uint32_t last, before; /* its last item and the one before */
	uint64_t ends; /* bits of the ends of the body, of the loop that ends it, and so on */
	struct pause pause;
};

struct bodies {
	struct body *body;
	int64_t count, room;
	int32_t longest;
	uint32_t *ids;
	int64_t ids_used, ids_room;
	int32_t ending[1 << ENDING_BITS]; /* newest body whose last two items have a key */
	bool failed;                      /* no memory */
};

static uint64_t multiply(uint64_t a, uint64_t b)
{
	wide product = (wide)a * b;
	uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);

	return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t subtract(uint64_t a, uint64_t b)
{
	return a - b + (PRIME & -(uint64_t)(a < b));
}

static uint64_t extend(uint64_t hash, uint32_t id)
{
	uint64_t sum = multiply(hash, BASE) + id + 1;

	return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t pair_key(uint32_t before, uint32_t last)
{
	return (before * SPREAD + last) * SPREAD_PAIR >> (64 - ENDING_BITS);
}

static const struct body *body_of(const struct bodies *all, uint32_t item)
{
	return &all->body[item - LOOP];
}

static const uint32_t *ids_of(const struct bodies *all, const struct body *body)
{
	return all->ids + body->first;
}

static uint32_t last_of(const struct bodies *all, uint32_t loop)
{
	return body_of(all, loop)->last;
}

static int32_t counters_of(const struct bodies *all, uint32_t item)
{
	return item < LOOP ? 1 : body_of(all, item)->counters;
}

/* Returns the bit of a body's last two items. */
static uint64_t end_bit(uint32_t before, uint32_t last)
{
	return UINT64_C(1) << ((before * SPREAD + last) * SPREAD_PAIR >> (64 - 6));
}

static bool same_end(const struct body *body, const uint32_t *end)
{
	return (body->last == end[-1]) & (body->before == end[-2]);
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
static int32_t define(struct bodies *all, const uint32_t *ids, int32_t length, int32_t deepest)
{
	int32_t *newest = &all->ending[pair_key(ids[length - 2], ids[length - 1])];
	struct body body = {.length = length, .counters = 1, .depth = 1, .next = *newest};
	int32_t i, number;

	for (i = 0, number = *newest; i < BODIES && number >= 0;
	     i++, number = all->body[number].next)
		if (all->body[number].length == length &&
		    equal(ids_of(all, &all->body[number]), ids, length))
			return number;
	for (i = 0; i < length; i++) {
		body.hash = extend(body.hash, ids[i]);
		body.counters += counters_of(all, ids[i]);
		if (ids[i] >= LOOP && body_of(all, ids[i])->depth >= body.depth)
			body.depth = body_of(all, ids[i])->depth + 1;
	}
	if (body.depth > deepest)
		return -1;
	body.first = all->ids_used;
	body.last = ids[length - 1];
	body.before = ids[length - 2];
	body.ends = end_bit(body.before, body.last);
	if (body.last >= LOOP)
		body.ends |= body_of(all, body.last)->ends;
	if (!grow((void **)&all->body, &all->room, all->count + 1, sizeof(*all->body)) ||
	    !grow((void **)&all->ids, &all->ids_room, body.first + length, sizeof(*ids))) {
		all->failed = true;
		return -1;
	}
	memcpy(all->ids + body.first, ids, (size_t)length * sizeof(*ids));
	all->ids_used += length;
	if (length > all->longest)
		all->longest = length;
	all->body[all->count] = body;
	*newest = (int32_t)all->count;
	return (int32_t)all->count++;
}
