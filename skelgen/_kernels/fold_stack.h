/*
 * The stack of items, and the keys that find earlier likes of its end; a part of fold.c.
 */
enum {
	LONG = 16,     /* items whose key finds earlier likes; shorter ones are tried one by one */
	KEY_BITS = 10, /* of the keys of LONG items at first */
	NEAR = 16,     /* items that are compared at once */
	FEW = 16,      /* fewer items than one for so many words are taken away one by one */
	FETCHED = 16,  /* heights ahead whose words are fetched */
};

/* Powers of BASE: one of a few small ones times one of a few large ones. */
struct powers {
	uint64_t *small, *large;
	int bits; /* of the exponents of small ones */
};

/* Which of the NEAR items before an item equal it, and which are loops; bit 0 for the next one. */
struct near {
	uint16_t likes, loops;
};

/* Ids, where each begins in the string, and hashes of all that is below each height. */
struct stack {
	int32_t items;
	uint32_t *words; /* NEAR that no id equals, then ids */
	uint32_t *id;
	struct near *near;
	int32_t *start;
	uint64_t *prefix;
	struct powers powers;
	/*
	 * Newest height with each key of its topmost LONG items, and the next lower of each. A word
	 * of `newest` has the height in its lowest `bits`. Each of the other bits marks hashes:
	 * none of the heights with this key has a hash whose mark is missing.
	 */
	uint32_t *newest;
	int32_t *older;
	int bits;
	int32_t noted; /* heights that are in `newest`: all below the whole stack, perhaps it too */
	bool failed;   /* no memory */
};

static bool powers_new(struct powers *powers, size_t most)
{
	size_t i, small, large;

	for (powers->bits = 5; most >> 2 * powers->bits; powers->bits++)
		;
	small = (size_t)1 << powers->bits;
	large = (most >> powers->bits) + 1;
	powers->small = malloc((small + large) * sizeof(*powers->small));
	if (!powers->small)
		return false;
	powers->small[0] = 1;
	for (i = 1; i < small; i++)
		powers->small[i] = multiply(powers->small[i - 1], BASE);
	powers->large = powers->small + small;
	powers->large[0] = 1;
	for (i = 1; i < large; i++)
		powers->large[i] =
			multiply(powers->large[i - 1], multiply(powers->small[small - 1], BASE));
	return true;
}

static uint64_t power(const struct powers *powers, int32_t exponent)
{
	uint64_t small = powers->small[exponent & ((1 << powers->bits) - 1)];
	int32_t large = exponent >> powers->bits;

	return large ? multiply(small, powers->large[large]) : small;
}

/* Hash of the topmost items below a height. */
static uint64_t stretch(const struct stack *s, int32_t height, int32_t length)
{
	return subtract(s->prefix[height],
			multiply(s->prefix[height - length], power(&s->powers, length)));
}

/* Returns whether the hashes of the topmost items and of as many below them are equal. */
static bool hash_repeats(const struct stack *s, int32_t length)
{
	const uint64_t *end = s->prefix + s->items;
	uint64_t below = subtract(end[-length], end[-2 * length]);

	return subtract(end[0], end[-length]) == multiply(below, power(&s->powers, length));
}

static uint64_t long_hash(const struct stack *s, int32_t height)
{
	uint64_t below = multiply(s->prefix[height - LONG], s->powers.small[LONG]);

	return subtract(s->prefix[height], below) * SPREAD;
}

static uint32_t *newest_like(const struct stack *s, uint64_t hash)
{
	return &s->newest[hash >> (64 - s->bits)];
}

/* Returns the mark of a hash in the words of `newest`. */
static uint32_t mark_of(const struct stack *s, uint64_t hash)
{
	uint64_t marks = (uint64_t)(32 - s->bits);

	return 1u << (s->bits + (int)((hash & UINT32_MAX) * marks >> 32));
}

/* Returns the next lower height that may have the same topmost items, or 0. */
static int32_t note_height(struct stack *s, int32_t height)
{
	uint64_t hash = long_hash(s, height);
	uint32_t *word = newest_like(s, hash), heights = (1u << s->bits) - 1;
	uint32_t mark = mark_of(s, hash), below = *word & heights;
	bool marked = *word & mark;

	s->older[height] = (int32_t)below;
	*word = (*word & ~heights) | mark | (uint32_t)height;
	s->noted = height;
	return marked ? (int32_t)below : 0;
}

static void fetch_word(const struct stack *s, int32_t height)
{
	__builtin_prefetch(newest_like(s, long_hash(s, height)), 1);
}

/* Notes all heights up to one in an empty table. */
static void note_heights(struct stack *s, int32_t last)
{
	int32_t height;

	for (height = LONG; height <= last; height++) {
		if (height + FETCHED <= last)
			fetch_word(s, height + FETCHED);
		note_height(s, height);
	}
}

/* Makes room for the keys of twice as many heights. */
static void widen_keys(struct stack *s)
{
	s->bits++;
	free(s->newest);
	s->newest = in_large_pages(sizeof(*s->newest) << s->bits, true);
	if (s->newest)
		note_heights(s, s->noted);
	else
		s->failed = true;
}

/* Puts an item on the stack; returns whether keys became longer. */
static bool push(struct stack *s, uint32_t item, int32_t start)
{
	int32_t height = s->items + 1;
	bool wider = height >> s->bits;
	uint32_t loops = 0;

	if (s->items >= LONG && s->noted < s->items)
		note_height(s, s->items);
	if (wider)
		widen_keys(s);
	if (s->items)
		loops = (uint32_t)s->near[height - 2].loops << 1 | (s->id[height - 2] >= LOOP);
	s->near[height - 1] = (struct near){0, (uint16_t)loops};
	s->id[height - 1] = item;
	s->start[height - 1] = start;
	s->prefix[height] = extend(s->prefix[height - 1], item);
	s->items = height;
	return wider;
}

/* Takes the newest height out of the words of keys. */
static void forget_height(struct stack *s)
{
	uint32_t *word = newest_like(s, long_hash(s, s->noted));
	uint32_t older = (uint32_t)s->older[s->noted], heights = (1u << s->bits) - 1;

	*word = older ? (*word & ~heights) | older : 0;
	s->noted--;
}

static void pop(struct stack *s, int32_t length)
{
	s->items -= length;
	if (s->noted - s->items > s->items + (1 << s->bits) / FEW) {
		memset(s->newest, 0, sizeof(*s->newest) << s->bits);
		s->noted = s->items;
		note_heights(s, s->items);
	}
	while (s->noted > s->items && s->noted >= LONG) {
		if (s->noted >= s->items + FETCHED && s->noted >= LONG + FETCHED)
			fetch_word(s, s->noted - FETCHED);
		forget_height(s);
	}
}

static const uint32_t NEAR_BIT[NEAR] = {
	1 << 15, 1 << 14, 1 << 13, 1 << 12, 1 << 11, 1 << 10, 1 << 9, 1 << 8,
	1 << 7,  1 << 6,  1 << 5,  1 << 4,  1 << 3,  1 << 2,  1 << 1, 1 << 0,
};

/* Returns which of the NEAR items before a place are equal to one; bit 0 for the last. */
static uint32_t near_likes(const uint32_t *end, uint32_t item)
{
	uint32_t likes = 0;
	int i;

	for (i = 0; i < NEAR; i++)
		likes |= end[i - NEAR] == item ? NEAR_BIT[i] : 0;
	return likes;
}

/* Returns the length of the shortest stretch below LONG that ends the stack twice in a row, or 0.
 */
static int32_t short_repeat(struct stack *s)
{
	struct near *end = s->near + s->items;
	uint32_t all = near_likes(s->id + s->items - 1, s->id[s->items - 1]);
	int32_t length;

	end[-1].likes = (uint16_t)all;
	/* Lengths at which the latest items all equal those before them. */
	for (length = 2; all && length < LONG; length++) {
		all &= end[-length].likes;
		if (all >> (length - 1) & 1)
			return length;
	}
	return 0;
}

/* Makes an empty stack for so many items; returns whether there was memory. */
static bool stack_new(struct stack *s, size_t items)
{
	s->words = in_large_pages((NEAR + items) * sizeof(*s->words), false);
	s->near = in_large_pages(items * sizeof(*s->near), false);
	s->start = in_large_pages(items * sizeof(*s->start), false);
	s->prefix = in_large_pages((items + 1) * sizeof(*s->prefix), false);
	s->older = in_large_pages((items + 1) * sizeof(*s->older), false);
	s->bits = KEY_BITS;
	s->newest = calloc((size_t)1 << s->bits, sizeof(*s->newest));
	if (!s->words || !s->near || !s->start || !s->prefix || !s->older || !s->newest ||
	    !powers_new(&s->powers, items))
		return false;
	memset(s->words, 0xff, NEAR * sizeof(*s->words));
	s->id = s->words + NEAR;
	s->prefix[0] = 0;
	return true;
}

/* Frees all but the ids. */
static void forget_likes(struct stack *s)
{
	free(s->near);
	free(s->start);
	free(s->prefix);
	free(s->older);
	free(s->newest);
	free(s->powers.small);
	s->near = NULL;
	s->start = NULL;
	s->prefix = NULL;
	s->older = NULL;
	s->newest = NULL;
	s->powers.small = NULL;
}

static void stack_free(struct stack *s)
{
	forget_likes(s);
	free(s->words);
}
