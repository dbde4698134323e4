/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the building blocks of a trace from bytes, and nothing beyond their end. */
#ifndef SKELGEN_CURSOR_H
#define SKELGEN_CURSOR_H
#include <stdint.h>
#include <string.h>
#include "decode.h"

/* Where a record is being read; the first failure sticks and everything reads as 0. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	int stop;
};

static inline uint64_t failed(struct cursor *cursor, int why)
{
	if (!cursor->stop)
		cursor->stop = why;
	cursor->at = cursor->end;
	return 0;
}

static inline uint64_t long_varint(struct cursor *cursor)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 70; shift += 7) {
		uint8_t byte;

		if (cursor->at == cursor->end)
			return failed(cursor, SKELGEN_STOP_SHORT);
		byte = *cursor->at++;
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return failed(cursor, SKELGEN_STOP_VARINT);
}

static inline uint64_t varint(struct cursor *cursor)
{
	if (cursor->at != cursor->end && !(*cursor->at & 0x80))
		return *cursor->at++;
	return long_varint(cursor);
}

static inline int64_t zigzag(struct cursor *cursor)
{
	uint64_t value = varint(cursor);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Read a varint that is at most `limit`. */
static inline uint64_t at_most(struct cursor *cursor, uint64_t limit)
{
	uint64_t value = varint(cursor);

	return value <= limit ? value : failed(cursor, SKELGEN_STOP_RANGE);
}

static inline uint32_t small(struct cursor *cursor)
{
	return (uint32_t)at_most(cursor, UINT32_MAX);
}

/* Add a zigzag to a value, within [-limit, limit]. */
static inline int64_t changed(struct cursor *cursor, int64_t value, int64_t limit)
{
	int64_t change = zigzag(cursor);

	if (change > 2 * limit || change < -2 * limit || value + change > limit ||
	    value + change < -limit)
		return (int64_t)failed(cursor, SKELGEN_STOP_RANGE);
	return value + change;
}

static inline int32_t changed_small(struct cursor *cursor, int32_t value)
{
	return (int32_t)changed(cursor, value, INT32_MAX);
}

static inline int64_t fixed(struct cursor *cursor, int bytes)
{
	static const uint32_t masks[] = {0xff, 0xffff, 0xffffff, 0xffffffff};
	uint32_t value = 0;

	if (cursor->end - cursor->at >= 4) {
		memcpy(&value, cursor->at, 4);
	} else {
		if (cursor->end - cursor->at < bytes)
			return (int64_t)failed(cursor, SKELGEN_STOP_SHORT);
		for (int i = 0; i < bytes; i++)
			value |= (uint32_t)cursor->at[i] << (8 * i);
	}
	cursor->at += bytes;
	return value & masks[bytes - 1];
}

#endif
