/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"
#include <string.h>

/*
 * A row may stand in one of GROUP neighbouring slots, chosen by the column that counts, of up to
 * PROBES groups, then behind the last of these: so one cache line serves several rows in turn.
 */
#define PROBES 8
#define GROUP 16

static uint64_t mixed(uint64_t code, uint32_t word)
{
	return (code ^ (code >> 29) ^ word) * 0x9e3779b97f4a7c15u;
}

static uint32_t word_at(const uint8_t *row, int64_t offset)
{
	uint32_t word;

	memcpy(&word, row + offset, sizeof(word));
	return word;
}

/* The slot of a row: its own, or a free one. There is always a free one. */
static uint32_t *slot_of(const struct skelgen_rows *rows, const uint8_t *row)
{
	uint32_t mask = (uint32_t)(((uint64_t)1 << rows->slot_bits) - 1);
	uint32_t counter = word_at(row, rows->counter);
	uint64_t code = 0;
	uint32_t lane, slot;

	for (int64_t i = 0; i < rows->width; i += 4)
		code = i == rows->counter ? code : mixed(code, word_at(row, i));
	lane = ((uint32_t)(code >> 32) + counter) % GROUP;
	code = mixed(code, counter / GROUP);
	slot = (uint32_t)(code >> (64 - rows->slot_bits)) / GROUP * GROUP + lane;
	for (int probe = 1; rows->slots[slot]; probe++) {
		const uint8_t *known = rows->table + (rows->slots[slot] - 1) * rows->width;

		if (!memcmp(known, row, (size_t)rows->width))
			break;
		slot += probe < PROBES ? ((uint32_t)code | 1) * GROUP : 1;
		slot &= mask;
	}
	return &rows->slots[slot];
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
