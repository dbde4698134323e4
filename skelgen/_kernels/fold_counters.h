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
