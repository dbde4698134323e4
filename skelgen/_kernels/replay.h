/*
 * Act a recorded run out again, with its threads; skelgen/matching/replay.py calls it.
 * Plain declarations only: cffi reads this file.
 */

/* Ragged rows: row i of x is x[x_first[i]] to x[x_first[i + 1]]. */
struct skelgen_replay_input {
	int64_t ranks, ends;
	const int64_t *first;
	const int64_t *lane; /* thread of each call, numbered through all ranks */
	const int64_t *lane_first;
	const int64_t *enter_ns, *leave_ns;
	const int64_t *begins_first, *begins;   /* call: ends that it begins */
	const int64_t *waits_first, *waits;     /* call: ends that it waits for */
	const int64_t *waiters_first, *waiters; /* end: calls that wait for it */
	const uint8_t *soft, *holds;            /* of each waiter */
	const int64_t *after_first, *after;     /* call: calls that stay behind it */
};

/* Returns 0, or -1 when there is no memory. */
int skelgen_replay(const struct skelgen_replay_input *in, int64_t *order);
