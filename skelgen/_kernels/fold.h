/*
 * Fold a string of symbols into nested loops; skelgen/loops/kernel.py calls it.
 * Plain declarations only: cffi reads this file.
 */

/* As the type Nest in skelgen/loops/types.py. */
struct skelgen_nest {
	int64_t items;
	int32_t *body_items;
	int32_t *symbol;
	int64_t *trips_first; /* items + 1 */
	int64_t rows;
	int64_t *trips; /* pairs: trips, executions in a row */
};

/* A string that is read several times, with the memory that each reading needs. */
struct skelgen_folding;

/* Returns NULL when there is no memory. The symbols must stay. */
struct skelgen_folding *skelgen_folding_new(const int32_t *symbols, int64_t length);
void skelgen_folding_free(struct skelgen_folding *folding);

/*
 * Reads the string once. The bodies of the loops in `known` (may have no items) up to a depth are
 * known from the first symbol. Returns 0, or -1 when there is no memory; `nest` is then empty.
 */
int skelgen_fold(struct skelgen_folding *folding, const struct skelgen_nest *known, int32_t depth,
		 struct skelgen_nest *nest);

/*
 * Returns a hash of the bodies that a reading would know, 0 for none: readings that know the same
 * bodies find the same loops.
 */
uint64_t skelgen_known(const struct skelgen_nest *known, int32_t depth);

/* Frees one array of a nest that was found. */
void skelgen_array_free(void *array);

/*
 * Returns how many loops always ran once. Item i has `before[i]` of them before it, also for i of
 * the item behind the last. They have a single row, with one trip.
 */
int32_t skelgen_single_trips(const struct skelgen_nest *nest, int32_t *before);

/* Puts the body in the place of each such loop; `shorter` has room for all that is left. */
void skelgen_without_single_trips(const struct skelgen_nest *nest, const int32_t *before,
				  struct skelgen_nest *shorter);
