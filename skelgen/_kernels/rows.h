#ifndef SKELGEN_ROWS_H
#define SKELGEN_ROWS_H
#include <stdint.h>

/* A table of distinct rows of `width` bytes, a multiple of 4. */
struct skelgen_rows {
	uint8_t *table;
	int64_t width;
	int64_t counter; /* offset of a 32-bit column that often counts [bytes] */
	int64_t capacity;
	int64_t used;
	uint32_t *slots; /* 2^slot_bits of them, at least twice the capacity: row + 1, 0: free */
	int64_t slot_bits;
};

int64_t skelgen_rows_number(struct skelgen_rows *rows, const uint8_t *given, int64_t count,
			    uint32_t *number);
#endif
