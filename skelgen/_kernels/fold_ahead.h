/*
 * Iterations ahead in the string that equal the last one; a part of fold.c.
 */
/* The string: what was read of it, and how far ahead it was compared. */
struct reader {
	const int32_t *symbols;
	int64_t length, read, seen;
	int64_t news; /* what was read when a body was defined */
	int64_t far;  /* most symbols that were compared ahead of what was read */
};

/* Returns how many symbols ahead equal those a distance before them. */
static int64_t equal_symbols(const struct reader *string, int64_t distance, int64_t enough)
{
	const int32_t *ahead = string->symbols + string->read;
	int64_t left = string->length - string->read, count = 0, block = 1024;

	if (left > enough)
		left = enough;
	while (count + block <= left &&
	       !memcmp(ahead + count, ahead + count - distance, (size_t)block * sizeof(*ahead)))
		count += block;
	while (count < left && ahead[count] == ahead[count - distance])
		count++;
	return count;
}

/* As equal_symbols, for what decides which loops are found. */
static int64_t compared_symbols(struct reader *string, int64_t distance, int64_t enough)
{
	int64_t count = equal_symbols(string, distance, enough);
	int64_t seen = string->read + count + 1;

	if (count >= string->far)
		string->far = count + 1;
	if (seen > string->seen)
		string->seen = seen < string->length ? seen : string->length;
	return count;
}

/*
 * Reads iterations ahead that equal the last one, and counts them in its counters. They may have
 * counts that vary inside or not.
 */
static int32_t equal_ahead(struct reader *string, int32_t start, struct rows *rows,
			   struct counter *last, int32_t size, bool vary)
{
	int64_t length = string->read - start, left = string->length - string->read, times;
	const int32_t *ahead = string->symbols + string->read;
	int32_t i;

	for (i = 0; i < size && !vary; i++)
		if (last[i].oldest >= 0)
			return 0;
	/* One iteration first: most that differ do so early, and time must stay linear. */
	if (compared_symbols(string, length, length) < length)
		return 0;
	times = compared_symbols(string, length, left) / length;
	if (times * length < left && ahead[times * length] == ahead[times * length - 1])
		times--; /* its last run goes on */
	for (i = 0; i < size; i++)
		repeat(rows, last + i, (int32_t)times);
	string->read += times * length;
	return (int32_t)times;
}

/* Notes that a loop ends the stack, and that its next iteration begins. */
static void begin_iteration(const struct reader *string, const struct stack *s, struct body *body)
{
	body->pause = (struct pause){(int32_t)string->read, s->items, s->start[s->items - 1]};
}

/*
 * Reads iterations ahead of the loop that ends the stack, behind one that was just reduced to the
 * same loop; its counters are `later`. Such an iteration is reduced as the one before it, if
 * nothing that decided there has changed: the stack, the bodies, and all symbols compared.
 */
static void same_reductions_ahead(struct reader *string, const struct stack *s,
				  const struct pause *pause, struct rows *rows,
				  struct counter *later, int32_t size)
{
	int64_t length = string->read - pause->read, beyond = string->seen - string->read;
	int64_t left = string->length - string->read, times;
	int32_t i;

	if (pause->height != s->items || pause->start != s->start[s->items - 1] ||
	    pause->read < string->news)
		return;
	if (beyond < 1)
		beyond = 1; /* the end of a run was seen */
	if (beyond > length || equal_symbols(string, length, length + beyond) < length + beyond)
		return;
	times = (equal_symbols(string, length, left) - beyond) / length;
	for (i = 0; i < size - 1; i++)
		repeat(rows, later + i, (int32_t)times);
	later[i].trips *= (int32_t)times + 1;
	string->read += times * length;
	string->seen += times * length;
}
