#include <stdint.h>
/*
 * The symbol and the leaf number of each element of the string; returns its length, or
 * -1 - length when it exceeds the room or trip counts run out. Either array may be NULL.
 */
int64_t skelgen_unfold(int64_t items, const int32_t *body_items, const int32_t *symbol,
		       const int64_t *trips_first, const int64_t *trips, int64_t room,
		       int32_t *string, int32_t *leaf);
