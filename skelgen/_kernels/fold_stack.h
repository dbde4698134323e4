/*
 * The stack of items; a part of fold.c.
 */
/* Powers of BASE: one of a few small ones times one of a few large ones. */
struct powers {
	uint64_t *small, *large;
	int bits; /* of the exponents of small ones */
};

/*
 * Which of the NEAR items before an item equal it, and which of the nearest are loops; bit 0 for
 * the next one.
 */
struct near {
	uint32_t likes;
	uint16_t loops;
};

/* Ids, where each begins in the string, and hashes of all that is below each height. */
struct stack {
	int32_t items;
	size_t room;
	uint32_t *words; /* NEAR that no id equals, then ids */
	uint32_t *id;
	struct near *near;
	int32_t *start;
	uint64_t *prefix;
	struct powers powers;
	struct landmarks landmarks;
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

/* Notes the key of the whole stack. */
static void note_end(struct stack *s)
{
	int32_t height = s->items;
	uint64_t below, hash;

	if (height < LONG)
		return;
	below = multiply(s->prefix[height - LONG], s->powers.small[LONG]);
	hash = subtract(s->prefix[height], below) * SPREAD;
	note_height(&s->landmarks, height, (uint32_t)(hash >> 32));
}

static void push(struct stack *s, uint32_t item, int32_t start)
{
	int32_t height = s->items + 1;
	uint32_t loops = 0;

	if (s->items)
		loops = (uint32_t)s->near[height - 2].loops << 1 | (s->id[height - 2] >= LOOP);
	s->near[height - 1] = (struct near){0, (uint16_t)loops};
	s->id[height - 1] = item;
	s->start[height - 1] = start;
	s->prefix[height] = extend(s->prefix[height - 1], item);
	s->items = height;
}

static void pop(struct stack *s, int32_t length)
{
	s->items -= length;
	take_landmarks(&s->landmarks, s->items);
}

#define FOUR_BITS(i) 1u << (i), 1u << ((i) - 1), 1u << ((i) - 2), 1u << ((i) - 3)

static const uint32_t NEAR_BIT[NEAR] = {
	FOUR_BITS(31), FOUR_BITS(27), FOUR_BITS(23), FOUR_BITS(19),
	FOUR_BITS(15), FOUR_BITS(11), FOUR_BITS(7),  FOUR_BITS(3),
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

/* Returns the length of the shortest stretch below NEAR that ends the stack twice in a row, or 0.
 */
static int32_t short_repeat(struct stack *s)
{
	struct near *end = s->near + s->items;
	uint32_t all = near_likes(s->id + s->items - 1, s->id[s->items - 1]);
	int32_t length;

	end[-1].likes = all;
	/* Lengths at which the latest items all equal those before them. */
	for (length = 2; all && length < NEAR; length++) {
		all &= end[-length].likes;
		if (all >> (length - 1) & 1)
			return length;
	}
	return 0;
}

/* Makes a stack for so many items; returns whether there was memory. */
static bool stack_new(struct stack *s, size_t items)
{
	s->room = items;
	s->words = in_large_pages((NEAR + items) * sizeof(*s->words), false);
	if (!s->words || !powers_new(&s->powers, items))
		return false;
	memset(s->words, 0xff, NEAR * sizeof(*s->words));
	s->id = s->words + NEAR;
	return true;
}

/* Empties a stack that has only ids; returns whether there was memory. */
static bool stack_begin(struct stack *s)
{
	s->items = 0;
	s->near = in_large_pages(s->room * sizeof(*s->near), false);
	s->start = in_large_pages(s->room * sizeof(*s->start), false);
	s->prefix = in_large_pages((s->room + 1) * sizeof(*s->prefix), false);
	if (!s->near || !s->start || !s->prefix || !landmarks_new(&s->landmarks, s->room))
		return false;
	s->prefix[0] = 0;
	return true;
}

/* Frees all but the ids. */
static void forget_likes(struct stack *s)
{
	free(s->near);
	free(s->start);
	free(s->prefix);
	landmarks_free(&s->landmarks);
	s->near = NULL;
	s->start = NULL;
	s->prefix = NULL;
}

static void stack_free(struct stack *s)
{
	forget_likes(s);
	free(s->words);
	free(s->powers.small);
}
