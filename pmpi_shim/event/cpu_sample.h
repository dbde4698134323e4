/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of CPU time: for how long a thread was without its core. */
#ifndef SKELGEN_CPU_SAMPLE_H
#define SKELGEN_CPU_SAMPLE_H

#include "base/state.h"

void skelgen_sample(struct skelgen_stream *s);
uint64_t skelgen_sample_begin(struct skelgen_stream *s, uint64_t begin);

/* A call begins now: look what the thread did when the gap before it was long. */
SKELGEN_INLINE uint64_t skelgen_clock_begin(struct skelgen_stream *s, uint64_t now)
{
	if (unlikely(now - s->last_end > skelgen.long_gap))
		return skelgen_sample_begin(s, now);
	return now;
}

#endif
