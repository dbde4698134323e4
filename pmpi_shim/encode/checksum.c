/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checksums of what is in the file. They are computed when the window moves and at the end, never
 * for an event; each stands in a CHECK record behind the bytes that it is of.
 */
#include "encode/checksum.h"

#include "encode/varint.h"
#include "crc.h"

uint32_t skelgen_check_header(const struct skelgen_header *header)
{
	return skelgen_crc32c(0, (const uint8_t *)header, sizeof(*header));
}

/* The checksum of what was written since the last CHECK record: all of it is in the window. */
uint32_t skelgen_check_window(const struct skelgen_stream *s)
{
	const uint8_t *begin = s->window + (s->checked - s->window_offset);

	return skelgen_crc32c(0, begin, (size_t)(s->write - begin));
}

/*
 * Append a CHECK record; `crc` is that of the bytes before it. So many bytes that follow it, fewer
 * than 128, stand there already and belong to it.
 */
void skelgen_check_put(struct skelgen_stream *s, uint32_t crc, size_t following)
{
	uint8_t *record = s->write;
	const uint8_t head[] = {SKELGEN_REC_CHECK, 1 + SKELGEN_CRC_BYTES, (uint8_t)following};

	crc = skelgen_crc32c(crc, head, sizeof(head));
	crc = skelgen_crc32c(crc, record + SKELGEN_CHECK_BYTES, following);
	memcpy(record + 1, head + 1, sizeof(head) - 1);
	for (size_t i = 0; i < SKELGEN_CRC_BYTES; i++)
		record[sizeof(head) + i] = (uint8_t)(crc >> 8 * i);
	s->write = record + SKELGEN_CHECK_BYTES;
	s->checked = s->window_offset + (uint64_t)(s->write + following - s->window);
	skelgen_commit(record, SKELGEN_REC_CHECK);
}
