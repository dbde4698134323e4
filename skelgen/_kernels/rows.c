/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"
#include <string.h>
#include "places.h"

static uint32_t word_at(const uint8_t *row, int64_t offset)
{
	uint32_t word;

	memcpy(&word, row + offset, sizeof(word));
	return word;
}

/* The slot of a row: its own, or a free one. There is always a free one. */
static uint32_t *slot_of(const struct skelgen_rows *rows, const uint8_t *row)
{
	struct places places;
	uint64_t code = 0;

	for (int64_t i = 0; i < rows->width; i += 4)
		code = i == rows->counter ? code : places_mix(code, word_at(row, i));
	places = places_begin(code, word_at(row, rows->counter), rows->slot_bits);
	while (rows->slots[places.slot]) {
		const uint8_t *known = rows->table + (rows->slots[places.slot] - 1) * rows->width;

		if (!memcmp(known, row, (size_t)rows->width))
			break;
		places_next(&places);
	}
	return &rows->slots[places.slot];
}

/*
 * Number rows: equal ones get equal numbers, new ones are appended to the table. Returns how many
 * were numbered before the table was full.
 */
int64_t skelgen_rows_number(struct skelgen_rows *rows, const uint8_t *given, int64_t count,
			    uint32_t *number)
{
	for (int64_t i = 0; i < count; i++) {
		const uint8_t *row = given + i * rows->width;
		uint32_t *slot = slot_of(rows, row);

		if (!*slot) {
			if (rows->used == rows->capacity)
				return i;
			memcpy(rows->table + rows->used * rows->width, row, (size_t)rows->width);
			*slot = (uint32_t)++rows->used;
		}
		number[i] = *slot - 1;
	}
	return count;
}
