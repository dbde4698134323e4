/* SPDX-License-Identifier: BSD-3-Clause */
/* How numbers and texts are written, and when a record counts. */
#ifndef SKELGEN_VARINT_H
#define SKELGEN_VARINT_H

#include "base/state.h"

SKELGEN_INLINE uint8_t *skelgen_put_varint(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

/* The same without a branch where the value has at most 28 bits and its length cannot be guessed.
 */
SKELGEN_INLINE uint8_t *skelgen_put_short_varint(uint8_t *p, uint64_t value)
{
	uint32_t few = (uint32_t)value;
	uint32_t spread;
	unsigned more;

	if (unlikely(value >> 28))
		return skelgen_put_varint(p, value);
	more = (unsigned)(31 ^ __builtin_clz(few | 1)) * 37 >> 8; /* a seventh, rounded down */
	spread = (few & 0x3fff) | (few & 0xfffc000) << 2;
	spread = (spread & 0x7f007f) | (spread & 0x3f803f80) << 1 | 0x808080u >> (24 - 8 * more);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	spread = __builtin_bswap32(spread);
#endif
	memcpy(p, &spread, sizeof(spread));
	return p + more + 1;
}

/* The same where nearly all values have at most 14 bits. */
SKELGEN_INLINE uint8_t *skelgen_put_small_varint(uint8_t *p, uint64_t value)
{
	unsigned more = value > 0x7f;
	unsigned first = (unsigned)value | 0x80;

	if (unlikely(value >> 14))
		return skelgen_put_varint(p, value);
	p[1] = (uint8_t)(value >> 7);
	p[0] = (uint8_t)(more ? first : value);
	return p + more + 1;
}

SKELGEN_INLINE uint64_t skelgen_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

SKELGEN_INLINE uint8_t *skelgen_put_zigzag(uint8_t *p, int64_t value)
{
	return skelgen_put_varint(p, skelgen_zigzag(value));
}

SKELGEN_INLINE uint8_t *skelgen_put_short_zigzag(uint8_t *p, int64_t value)
{
	return skelgen_put_short_varint(p, skelgen_zigzag(value));
}

SKELGEN_INLINE uint8_t *skelgen_put_small_zigzag(uint8_t *p, int64_t value)
{
	return skelgen_put_small_varint(p, skelgen_zigzag(value));
}

SKELGEN_INLINE uint8_t *skelgen_put_string(uint8_t *p, const char *text, size_t bytes)
{
	p = skelgen_put_varint(p, bytes);
	memcpy(p, text, bytes);
	return p + bytes;
}

/* The first byte of a record is stored last: what precedes a zero tag is complete. */
SKELGEN_INLINE void skelgen_commit(uint8_t *record, uint8_t tag)
{
	__atomic_store_n(record, tag, __ATOMIC_RELEASE);
}

/* Write gap and duration (below 2^32) and return the bits that tell their lengths. */
SKELGEN_INLINE uint8_t *skelgen_put_times(uint8_t *p, uint32_t gap, uint32_t duration,
					  unsigned *tag)
{
	unsigned gap_bytes = (unsigned)(31 ^ __builtin_clz(gap | 1)) >> 3;
	unsigned duration_bytes = (unsigned)(31 ^ __builtin_clz(duration | 1)) >> 3;

	memcpy(p, &gap, sizeof(gap));
	p += gap_bytes + 1;
	memcpy(p, &duration, sizeof(duration));
	p += duration_bytes + 1;
	*tag |= gap_bytes << 2 | duration_bytes;
	return p;
}

#endif
