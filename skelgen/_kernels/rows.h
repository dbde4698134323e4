#ifndef SKELGEN_ROWS_H
#define SKELGEN_ROWS_H
#include <stdint.h>

int64_t skelgen_rows_number(const uint8_t *rows, int64_t count, int64_t width, uint8_t *table,
			    int64_t capacity, int64_t used, uint32_t *slots, int64_t slot_bits,
			    uint32_t *number);
#endif
