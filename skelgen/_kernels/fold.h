#include <stdint.h>
/* Fold a string of symbols (>= 0) into nested loops. NULL when memory runs out. */
struct skelgen_fold *skelgen_fold(const int32_t *symbols, int64_t n);
int64_t skelgen_fold_items(const struct skelgen_fold *fold);
int64_t skelgen_fold_trip_rows(const struct skelgen_fold *fold);
/* Write the nest in prefix order, as in skelgen.loops.Nest, and release the fold. */
void skelgen_fold_take(struct skelgen_fold *fold, int32_t *body_items, int32_t *symbol,
		       int64_t *trips_first, int64_t *trips);
void skelgen_fold_release(struct skelgen_fold *fold);
/* Expand a nest: the symbol and the leaf number of each element; returns the length, or
 * -1 - length when it exceeds the room. Either array may be NULL. */
int64_t skelgen_fold_expand(int64_t items, const int32_t *body_items, const int32_t *symbol,
			    const int64_t *trips_first, const int64_t *trips, int64_t room,
			    int32_t *string, int32_t *leaf);
