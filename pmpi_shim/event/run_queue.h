/* SPDX-License-Identifier: BSD-3-Clause */
/* What kept a thread from its core. */
#ifndef SKELGEN_RUN_QUEUE_H
#define SKELGEN_RUN_QUEUE_H

#include "base/state.h"

struct skelgen_scheduling {
	uint64_t switches;
	uint64_t yields;
	uint64_t blocks;
};
struct skelgen_scheduling skelgen_thread_scheduling(void);
void skelgen_load_begin(struct skelgen_stream *s);
uint64_t skelgen_load_sample(struct skelgen_stream *s);
void skelgen_load_put(struct skelgen_stream *s, uint64_t queued_us);
void skelgen_load_end(struct skelgen_stream *s);
void skelgen_load_close(struct skelgen_stream *s);

#endif
