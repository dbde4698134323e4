/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"
#include <string.h>

static uint32_t hash(const uint8_t *row, int64_t width, int64_t bits)
{
	uint64_t code = 0;

	for (int64_t i = 0; i < width; i += 4) {
		uint32_t word;

		memcpy(&word, row + i, sizeof(word));
		code = (code ^ (code >> 29) ^ word) * 0x9e3779b97f4a7c15u;
	}
	return (uint32_t)(code >> (64 - bits));
}

/*
 * Number rows of `width` bytes (a multiple of 4): equal rows get equal numbers, new ones are
 * appended to `table`, which has `used` rows and room for `capacity`. `slots` has 2^slot_bits
 * elements, more than `capacity`: number + 1, 0 for free ones. Returns the rows then used, or
 * -1 - i when the table was full at row i.
 */
int64_t skelgen_rows_number(const uint8_t *rows, int64_t count, int64_t width, uint8_t *table,
			    int64_t capacity, int64_t used, uint32_t *slots, int64_t slot_bits,
			    uint32_t *number)
{
	uint32_t mask = (uint32_t)(((uint64_t)1 << slot_bits) - 1);

	for (int64_t i = 0; i < count; i++) {
		const uint8_t *row = rows + i * width;
		uint32_t slot = hash(row, width, slot_bits);

		while (slots[slot] && memcmp(table + (slots[slot] - 1) * width, row, (size_t)width))
			slot = (slot + 1) & mask;
		if (!slots[slot]) {
			if (used == capacity)
				return -1 - i;
			memcpy(table + used * width, row, (size_t)width);
			slots[slot] = (uint32_t)++used;
		}
		number[i] = slots[slot] - 1;
	}
	return used;
}
