/*
 * Trip counts of runs and loops, run-length coded; a part of fold.c.
 */
/* Trip counts of one run or loop, run-length coded: the latest here, earlier ones in rows. */
struct counter {
	int32_t trips;
	int32_t executions;
	int32_t newest, oldest; /* rows, -1 without */
};

struct row {
	int32_t trips;
	int32_t executions;
	int32_t earlier; /* -1 at the oldest */
};

struct rows {
	struct row *row;
	int32_t used;
};

static void shelve(struct rows *rows, struct counter *counter)
{
	int32_t row = rows->used++;

	rows->row[row] = (struct row){counter->trips, counter->executions, counter->newest};
	counter->newest = row;
	if (counter->oldest < 0)
		counter->oldest = row;
}

/* Appends the rows of later executions. */
static void append(struct rows *rows, struct counter *counter, const struct counter *later)
{
	if (later->oldest < 0) {
		if (counter->trips == later->trips) {
			counter->executions += later->executions;
			return;
		}
		shelve(rows, counter);
	} else if (rows->row[later->oldest].trips == counter->trips) {
		rows->row[later->oldest].executions += counter->executions;
		rows->row[later->oldest].earlier = counter->newest;
		if (counter->oldest < 0)
			counter->oldest = later->oldest;
		counter->newest = later->newest;
	} else {
		shelve(rows, counter);
		rows->row[later->oldest].earlier = counter->newest;
		counter->newest = later->newest;
	}
	counter->trips = later->trips;
	counter->executions = later->executions;
}

/* Returns a counter with copies of the rows of one that has some. */
static struct counter copied(struct rows *rows, const struct counter *counter)
{
	struct counter copy = {counter->trips, counter->executions, rows->used, -1};
	int32_t row = counter->newest;

	for (; row != counter->oldest; row = rows->row[row].earlier) {
		rows->row[rows->used] = rows->row[row];
		rows->row[rows->used].earlier = rows->used + 1;
		rows->used++;
	}
	copy.oldest = rows->used++;
	rows->row[copy.oldest] = rows->row[row];
	rows->row[copy.oldest].earlier = -1;
	return copy;
}

/* Appends what a counter has to itself. It uses as many rows as if it were counted again. */
static void repeat(struct rows *rows, struct counter *counter, int32_t times)
{
	const struct counter once = *counter;

	if (once.oldest < 0) {
		counter->executions *= times + 1;
		return;
	}
	for (; times > 0; times--) {
		struct counter later = copied(rows, &once);

		append(rows, counter, &later);
	}
}

/* Adds trips to the last execution. */
static void lengthen(struct rows *rows, struct counter *counter, int32_t trips)
{
	if (counter->executions > 1) {
		counter->executions--;
		shelve(rows, counter);
		counter->executions = 1;
	}
	counter->trips += trips;
}
