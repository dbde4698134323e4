/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC32C (Castagnoli, as in iSCSI): by the processor's instruction where it has one, else by
 * tables. The recorder and the reader's kernel include this.
 */
#ifndef SKELGEN_CRC_H
#define SKELGEN_CRC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#define SKELGEN_CRC_POLYNOMIAL 0x82f63b78u /* bits reversed */
/* The instruction takes three cycles and may begin in each: so three parts are done at once. */
#define SKELGEN_CRC_PART ((size_t)1024)

static struct {
	uint32_t bytes[8][256]; /* what a byte becomes with 0 to 7 zeros behind it */
	uint32_t part[4][256];  /* what a byte of the state becomes behind a part of zeros */
	bool instruction;
} skelgen_crc;

static uint32_t skelgen_crc_by_tables(uint32_t crc, const uint8_t *data, size_t bytes)
{
	while (bytes >= 8) {
		uint32_t next = 0;

		for (int i = 0; i < 4; i++)
			next ^= skelgen_crc.bytes[7 - i][data[i] ^ (crc >> 8 * i & 0xff)];
		for (int i = 4; i < 8; i++)
			next ^= skelgen_crc.bytes[7 - i][data[i]];
		crc = next;
		data += 8;
		bytes -= 8;
	}
	while (bytes-- > 0)
		crc = crc >> 8 ^ skelgen_crc.bytes[0][(crc ^ *data++) & 0xff];
	return crc;
}

/* What a state becomes when a part of zeros follows. */
static inline uint32_t skelgen_crc_shift(uint32_t crc)
{
	return skelgen_crc.part[0][crc & 0xff] ^ skelgen_crc.part[1][crc >> 8 & 0xff] ^
	       skelgen_crc.part[2][crc >> 16 & 0xff] ^ skelgen_crc.part[3][crc >> 24];
}

#if defined(__x86_64__)
static inline uint64_t skelgen_crc_word(const uint8_t *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return word;
}

__attribute__((target("sse4.2"))) static uint32_t
skelgen_crc_by_instruction(uint32_t crc, const uint8_t *data, size_t bytes)
{
	const size_t part = SKELGEN_CRC_PART;
	uint64_t a = crc;

	while (bytes >= 3 * part) {
		uint64_t b = 0;
		uint64_t c = 0;

		/* The next three parts come from memory meanwhile. */
		for (size_t i = 0; i < 3 * part; i += 64)
			__builtin_prefetch(data + 3 * part + i);
		for (size_t i = 0; i < part; i += 8) {
			a = _mm_crc32_u64(a, skelgen_crc_word(data + i));
			b = _mm_crc32_u64(b, skelgen_crc_word(data + part + i));
			c = _mm_crc32_u64(c, skelgen_crc_word(data + 2 * part + i));
		}
		a = skelgen_crc_shift(skelgen_crc_shift((uint32_t)a) ^ (uint32_t)b) ^ c;
		data += 3 * part;
		bytes -= 3 * part;
	}
	for (; bytes >= 8; data += 8, bytes -= 8)
		a = _mm_crc32_u64(a, skelgen_crc_word(data));
	for (; bytes > 0; bytes--)
		a = _mm_crc32_u8((uint32_t)a, *data++);
	return (uint32_t)a;
}
#endif

static void skelgen_crc_prepare(void)
{
	static const uint8_t zeros[SKELGEN_CRC_PART];
	uint32_t bits[32];

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? SKELGEN_CRC_POLYNOMIAL : 0);
		skelgen_crc.bytes[0][i] = crc;
	}
	for (int more = 1; more < 8; more++) {
		for (int i = 0; i < 256; i++) {
			uint32_t crc = skelgen_crc.bytes[more - 1][i];

			skelgen_crc.bytes[more][i] = crc >> 8 ^ skelgen_crc.bytes[0][crc & 0xff];
		}
	}
	for (int bit = 0; bit < 32; bit++)
		bits[bit] = skelgen_crc_by_tables((uint32_t)1 << bit, zeros, sizeof(zeros));
	for (int i = 0; i < 4 * 256; i++)
		for (int bit = 0; bit < 8; bit++)
			if (i >> bit & 1)
				skelgen_crc.part[i / 256][i % 256] ^= bits[i / 256 * 8 + bit];
#if defined(__x86_64__)
	skelgen_crc.instruction = __builtin_cpu_supports("sse4.2");
#endif
}

/* Go on with the CRC of what stands before these bytes; 0 before the first. */
static uint32_t skelgen_crc32c(uint32_t crc, const uint8_t *data, size_t bytes)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, skelgen_crc_prepare);
#if defined(__x86_64__)
	if (skelgen_crc.instruction)
		return ~skelgen_crc_by_instruction(~crc, data, bytes);
#endif
	return ~skelgen_crc_by_tables(~crc, data, bytes);
}

#endif
