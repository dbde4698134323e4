/*
 * Number equal keys in the order of their first appearance.
 *
 * slots is an open-addressing table of 1 << bits entries, all -1, at least twice the capacity;
 * first receives the position at which each number appeared. Returns how many numbers there
 * are, or -1 when there are more than capacity, so that the caller tries a larger table.
 */
#include "factorise.h"

int64_t skelgen_factorise(const int64_t *keys, int64_t n, int32_t *slots, int32_t bits,
			  int64_t *first, int64_t capacity, int32_t *code)
{
	const uint64_t mask = ((uint64_t)1 << bits) - 1;
	int64_t used = 0;

	for (int64_t i = 0; i < n; i++) {
		int64_t key = keys[i];
		uint64_t slot = ((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits);
		int32_t number;

		while ((number = slots[slot]) >= 0 && keys[first[number]] != key)
			slot = (slot + 1) & mask;
		if (number < 0) {
			if (used == capacity)
				return -1;
			number = (int32_t)used;
			slots[slot] = number;
			first[used++] = i;
		}
		code[i] = number;
	}
	return used;
}
