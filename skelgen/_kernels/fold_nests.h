/*
 * From nests to known bodies, and from items to nests; a part of fold.c.
 */
#define DEEPER UINT32_MAX /* id of what is not defined, for it is too deep */

/* Defines the body of an item of a nest, inner ones first; returns its id. */
static uint32_t learn(struct bodies *all, const struct skelgen_nest *nest, int64_t item,
		      int32_t depth, uint32_t *ids)
{
	int64_t inner = item + 1, end = inner + nest->body_items[item];
	int32_t length = 0, number;
	bool deeper = false;

	if (inner == end)
		return (uint32_t)nest->symbol[item];
	for (; inner < end; inner += 1 + nest->body_items[inner]) {
		ids[length] = learn(all, nest, inner, depth, ids + length);
		deeper |= ids[length++] == DEEPER;
	}
	if (deeper || length == 1)
		return deeper ? DEEPER : ids[0];
	number = define(all, ids, length, depth);
	return number < 0 ? DEEPER : LOOP + (uint32_t)number;
}

/*
 * Defines the bodies of a nest up to a depth; `ids` has room for one body of each level. Those of
 * the outermost loops are found again, and then begin at the right item.
 */
static void learn_inside(struct bodies *all, const struct skelgen_nest *nest, int32_t depth,
			 uint32_t *ids)
{
	int64_t item = 0, end;

	while (item < nest->items) {
		end = item + 1 + nest->body_items[item];
		for (item++; item < end; item += 1 + nest->body_items[item])
			learn(all, nest, item, depth, ids);
	}
}

/* Writes the rows of a counter, oldest first; returns false for a symbol that always ran once. */
static bool put_rows(const struct rows *rows, const struct counter *counter, bool loop,
		     struct skelgen_nest *nest)
{
	int64_t *first = nest->trips + 2 * nest->rows, *last = first, *next;
	int32_t row, count = 1;

	for (row = counter->newest; row >= 0; row = rows->row[row].earlier)
		count++;
	next = first + 2 * count;
	*--next = counter->executions;
	*--next = counter->trips;
	for (row = counter->newest; row >= 0; row = rows->row[row].earlier) {
		*--next = rows->row[row].executions;
		*--next = rows->row[row].trips;
	}
	/* Neighbours with equal trips become one. */
	for (next += 2; next < first + 2 * count; next += 2) {
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

/* Writes an item; its counters end before `end`. */
static void put(const struct bodies *all, const struct rows *rows, uint32_t item,
		const struct counter *end, struct skelgen_nest *nest)
{
	bool loop = put_rows(rows, end - 1, item >= LOOP, nest);
	int64_t place = loop ? put_item(nest, -1) : -1;
	int32_t i;

	if (item < LOOP) {
		put_item(nest, (int32_t)item);
	} else {
		const struct body *body = body_of(all, item);
		const uint32_t *ids = ids_of(all, body);

		end -= body->counters;
		for (i = 0; i < body->length; i++) {
			end += counters_of(all, ids[i]);
			put(all, rows, ids[i], end, nest);
		}
	}
	if (loop)
		nest->body_items[place] = (int32_t)(nest->items - place - 1);
}

/* Returns whether there was memory for as many items and rows. */
static bool nest_new(struct skelgen_nest *nest, size_t items, size_t rows)
{
	nest->body_items = in_large_pages((items + 1) * sizeof(*nest->body_items), false);
	nest->symbol = in_large_pages((items + 1) * sizeof(*nest->symbol), false);
	nest->trips_first = in_large_pages((items + 1) * sizeof(*nest->trips_first), false);
	nest->trips = in_large_pages((rows + 1) * 2 * sizeof(*nest->trips), false);
	if (nest->trips_first)
		nest->trips_first[0] = 0;
	return nest->body_items && nest->symbol && nest->trips_first && nest->trips;
}

static void nest_free(struct skelgen_nest *nest)
{
	free(nest->body_items);
	free(nest->symbol);
	free(nest->trips_first);
	free(nest->trips);
	memset(nest, 0, sizeof(*nest));
}

/* Gives back what an array has and does not need; it is there in any case. */
static void *shrunk(void *array, size_t size)
{
	void *smaller = realloc(array, size ? size : 1);

	return smaller ? smaller : array;
}

static void nest_shrink(struct skelgen_nest *nest)
{
	size_t items = (size_t)nest->items;

	nest->body_items = shrunk(nest->body_items, items * sizeof(*nest->body_items));
	nest->symbol = shrunk(nest->symbol, items * sizeof(*nest->symbol));
	nest->trips_first = shrunk(nest->trips_first, (items + 1) * sizeof(*nest->trips_first));
	nest->trips = shrunk(nest->trips, 2 * (size_t)nest->rows * sizeof(*nest->trips));
}

int32_t skelgen_single_trips(const struct skelgen_nest *nest, int32_t *before)
{
	int64_t i, first;

	before[0] = 0;
	for (i = 0; i < nest->items; i++) {
		first = nest->trips_first[i];
		before[i + 1] = before[i] + (nest->trips_first[i + 1] - first == 1 &&
					     nest->trips[2 * first] == 1);
	}
	return before[nest->items];
}

void skelgen_without_single_trips(const struct skelgen_nest *nest, const int32_t *before,
				  struct skelgen_nest *shorter)
{
	int64_t item, row, end;

	shorter->items = 0;
	shorter->rows = 0;
	shorter->trips_first[0] = 0;
	for (item = 0; item < nest->items; item++) {
		if (before[item + 1] > before[item])
			continue;
		end = item + 1 + nest->body_items[item];
		shorter->body_items[shorter->items] =
			nest->body_items[item] - (before[end] - before[item]);
		shorter->symbol[shorter->items++] = nest->symbol[item];
		for (row = nest->trips_first[item]; row < nest->trips_first[item + 1]; row++) {
			memcpy(shorter->trips + 2 * shorter->rows, nest->trips + 2 * row,
			       2 * sizeof(*nest->trips));
			shorter->rows++;
		}
		shorter->trips_first[shorter->items] = shorter->rows;
	}
}
