/*
 * Stretches of the string that are read again; a part of fold.c.
 *
 * Where the string says again what it said before, it is reduced as before, if all that decides is
 * as before: the bodies, the items at the end of the stack, and the symbols ahead. Then the items
 * of the earlier stretch are copied. It has no likes above the items that were compared, so no
 * stretch is found in the copy that was not found there. What ends twice in a row is still found
 * as ever: copies end before that.
 */
enum {
	ALIKE = 512,    /* items that are compared below both stretches */
	LONGEST = 128,  /* items of the bodies that may be known */
	ENDING = 64,    /* items before the end of a stretch that repeats */
	WORTH = 64,     /* fewer items are not copied */
	PATIENCE = 512, /* symbols until the next attempt */
};

/* A stretch of the stack, and how far above it is the copy. */
struct again {
	int32_t first, items, distance;
};

/* Returns how many topmost items are alike at a distance. */
static int32_t alike_below(const struct stack *s, int32_t distance)
{
	int32_t least = 0, most = s->items - distance;

	while (least < most) {
		int32_t length = least + (most - least + 1) / 2;

		if (stretch(s, s->items, length) == stretch(s, s->items - distance, length))
			least = length;
		else
			most = length - 1;
	}
	return least;
}

/* Returns the least distance of the newest landmark's likes, or 0. */
static int32_t nearest_like(const struct landmarks *l)
{
	int64_t i = l->landmark[l->count].first;
	int32_t nearest = 0;

	for (; i < l->distances; i++)
		if (!nearest || l->distance[i] < nearest)
			nearest = l->distance[i];
	return nearest;
}

/* Returns whether some of the topmost landmarks have likes that are nearer. */
static bool has_nearer(const struct stack *s, int32_t distance)
{
	const struct landmarks *l = &s->landmarks;
	int64_t i = l->distances, first;
	int32_t number = l->count;

	for (; number > 0 && l->landmark[number].height > s->items - ALIKE; number--)
		for (first = l->landmark[number].first; i > first; i--)
			if (l->distance[i - 1] < distance)
				return true;
	return false;
}

/* Returns whether what is copied could also repeat at a larger distance. */
static bool may_repeat_farther(const struct stack *s, const struct again *again)
{
	const struct landmarks *l = &s->landmarks;
	int64_t i;

	for (i = l->landmark[l->count].first; i < l->distances; i++) {
		int32_t farther = l->distance[i], length = farther - again->items;

		if (length > again->distance)
			length = again->distance;
		if (farther > again->distance && farther + length <= s->items &&
		    stretch(s, s->items, length) == stretch(s, s->items - farther, length))
			return true;
	}
	return false;
}

/* Finds what has been reduced before as it will be now; returns whether it is worth a copy. */
static bool find_again(const struct stack *s, const struct reader *string, struct again *again)
{
	int32_t alike = alike_below(s, again->distance), most = again->distance - alike - ENDING;
	const int32_t *start = s->start + again->first;
	int64_t symbols;
	int32_t least = 0;

	if (alike < ALIKE || most < WORTH || has_nearer(s, again->distance))
		return false;
	symbols = start[most] - start[0] + string->far + 1;
	symbols = equal_symbols(string, string->read - start[0], symbols) - string->far - 1;
	while (least < most) {
		int32_t items = least + (most - least + 1) / 2;

		if (start[items] - start[0] <= symbols)
			least = items;
		else
			most = items - 1;
	}
	again->items = least;
	return least >= WORTH && !may_repeat_farther(s, again);
}

/* Puts an item on the stack that stands below it in the same neighbourhood. */
static void push_again(struct stack *s, int32_t place, int32_t distance, int32_t symbols)
{
	struct landmarks *l = &s->landmarks;
	int32_t height = ++s->items;

	s->id[place] = s->id[place - distance];
	s->near[place] = s->near[place - distance];
	s->start[place] = s->start[place - distance] + symbols;
	s->prefix[height] = extend(s->prefix[place], s->id[place]);
	l->key[height] = l->key[height - distance];
	l->below[height] = l->below[height - distance];
	if (l->landmark[l->count].height < height - l->below[height])
		add_landmark(l, height - l->below[height]);
}

/* Returns how many counters items have. */
static int32_t counters_from(const struct bodies *all, const uint32_t *ids, int32_t items)
{
	int32_t counters = 0, i;

	for (i = 0; i < items; i++)
		counters += counters_of(all, ids[i]);
	return counters;
}
