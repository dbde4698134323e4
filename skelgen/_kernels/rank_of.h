/*
 * Which rank a call belongs to, where the calls of the ranks stand one behind the other.
 */
#ifndef SKELGEN_RANK_OF_H
#define SKELGEN_RANK_OF_H
#include <stdint.h>

/* The last rank whose first call is not later. */
static inline int64_t rank_of(const int64_t *first, int64_t ranks, int64_t call)
{
	int64_t low = 0, high = ranks;

	while (high - low > 1) {
		int64_t middle = (low + high) / 2;

		if (first[middle] <= call)
			low = middle;
		else
			high = middle;
	}
	return low;
}

#endif
