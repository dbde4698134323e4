/*
 * Expand a loop nest; skelgen/loops/unfold.py calls it.
 * Plain declarations only: cffi reads this file.
 */

/* Columns as in the type Nest in skelgen/loops/types.py. */
struct skelgen_folded {
	int64_t items;
	const int32_t *body_items;
	const int64_t *trips_first;
	const int64_t *trips;
};

struct skelgen_extent {
	int64_t length;     /* of the string */
	int64_t executions; /* of all loops */
	int64_t iterations; /* of all executions */
	int64_t depth;      /* loops inside each other */
};

/* Returns 0; 1 when the trip counts do not fit the loops; -1 when there is no memory. */
int skelgen_measure(const struct skelgen_folded *nest, struct skelgen_extent *extent);

/*
 * Expands a nest that was measured. `leaf` gets the leaf of each position. Executions of loops
 * come in the order in which they begin: `item` gets the loop, `first` where its bounds begin in
 * `bound`; these are the starts of its iterations and the end of the last. Without `item` there
 * are no executions. Returns 0, or -1 when there is no memory.
 */
int skelgen_unfold(const struct skelgen_folded *nest, const struct skelgen_extent *extent,
		   int32_t *leaf, int32_t *item, int64_t *first, int64_t *bound);
