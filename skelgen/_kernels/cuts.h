/*
 * Raise calls behind cuts; skelgen/phases/sides.py calls it.
 * Plain declarations only: cffi reads this file.
 */

enum {
	SKELGEN_CUTS_LISTS = 4,
};

struct skelgen_cuts_input {
	int64_t ranks, events;
	const int64_t *first;
	const uint32_t *event; /* of each call that is together with others, from 1; or 0 */
	int64_t needs[SKELGEN_CUTS_LISTS];
	const uint32_t *needing[SKELGEN_CUTS_LISTS]; /* calls that are behind ... */
	const uint32_t *needed[SKELGEN_CUTS_LISTS];  /* ... the cuts that these are behind */
};

/*
 * The side of a call is how many cuts it is behind; those of a rank ascend. Returns 0, or -1 when
 * there is no memory.
 */
int skelgen_cuts_close(const struct skelgen_cuts_input *in, int32_t *side);
