/*
 * Rows of one size that are given out and taken back; a part of halves.c. Each begins with the
 * number of the next row of its list.
 */
#define NO_ROW UINT32_MAX

struct pool {
	uint8_t *rows;
	size_t width;
	uint32_t room;
	uint32_t used; /* ever */
	uint32_t free; /* first of those that came back */
	uint32_t held;
};

static void *row_of(const struct pool *pool, uint32_t row)
{
	return pool->rows + row * pool->width;
}

static uint32_t next_row(const struct pool *pool, uint32_t row)
{
	uint32_t next;

	memcpy(&next, row_of(pool, row), sizeof(next));
	return next;
}

static void link_row(struct pool *pool, uint32_t row, uint32_t next)
{
	memcpy(row_of(pool, row), &next, sizeof(next));
}

/* A row that nobody has; NO_ROW when there is no memory. */
static uint32_t take_row(struct pool *pool)
{
	uint32_t row = pool->free;

	if (row != NO_ROW) {
		pool->free = next_row(pool, row);
	} else {
		if (pool->used == pool->room) {
			uint32_t room = pool->room ? 2 * pool->room : 64;
			void *rows =
				room < NO_ROW / 2 ? realloc(pool->rows, room * pool->width) : NULL;

			if (!rows)
				return NO_ROW;
			pool->rows = rows;
			pool->room = room;
		}
		row = pool->used++;
	}
	pool->held++;
	link_row(pool, row, NO_ROW);
	return row;
}

static void give_row(struct pool *pool, uint32_t row)
{
	link_row(pool, row, pool->free);
	pool->free = row;
	pool->held--;
}
