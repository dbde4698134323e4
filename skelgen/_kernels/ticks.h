/*
 * Place calls on a logical clock; skelgen/ticks/kernel.py calls it.
 * Plain declarations only: cffi reads this file.
 */

/* What the calls of a shape do for the clock. */
enum skelgen_ticks_role {
	SKELGEN_TICKS_LOCAL = 0,
	SKELGEN_TICKS_MEETS = 1,  /* a collective that blocks */
	SKELGEN_TICKS_BEGINS = 2, /* a collective that is completed later */
	SKELGEN_TICKS_ENDS = 3,   /* begins nothing: takes no tick of its own */
};

struct skelgen_ticks_input {
	int64_t ranks, whole_events, messages;
	const int64_t *first;
	const uint32_t *shape;
	const uint8_t *role; /* of each shape */
	const int64_t *whole_event;
	const int64_t *send_call;
	const int64_t *receive_done;
	const int64_t *collective_done;
};

/*
 * Returns 0, or -1 when there is no memory, or the number of ranks that wait for each other;
 * stuck then holds the call that each rank waits in, -1 for ranks that came to their end.
 */
int64_t skelgen_ticks(const struct skelgen_ticks_input *in, int64_t *ticks, int64_t *stuck);
