/* SPDX-License-Identifier: BSD-3-Clause */
/* What all clocks read at the same time. */
#include "event/clock_record.h"

#include "base/clock.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"

/* Note what all clocks read at the same time. */
void skelgen_clock_record(struct skelgen_stream *s, enum skelgen_clock_place place)
{
	uint8_t payload[64];
	uint8_t *p = payload;
	struct timespec wall;
	uint64_t ticks;
	uint64_t ns;

	skelgen_clock_pair(&ticks, &ns);
	clock_gettime(CLOCK_REALTIME, &wall);
	p = skelgen_put_varint(p, place);
	p = skelgen_put_varint(p, ticks);
	p = skelgen_put_varint(p, ns);
	p = skelgen_put_varint(p, (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec);
	p = skelgen_put_varint(p, skelgen_thread_cpu_ns());
	skelgen_define(s, SKELGEN_REC_CLOCK, payload, (size_t)(p - payload));
}

/* Called by the fast path when less than the margin is left. */
SKELGEN_COLD void skelgen_grow(struct skelgen_stream *s)
{
	uint64_t begin = skelgen_now();

	if (!skelgen_reserve(s, SKELGEN_MARGIN))
		return;
	skelgen_clock_record(s, SKELGEN_AT_OTHER);
	s->overhead += skelgen_now() - begin;
	s->special |= SKELGEN_SPECIAL_OVERHEAD;
}
