/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory computation touches between two calls. */
#ifndef SKELGEN_TOUCHED_MEMORY_H
#define SKELGEN_TOUCHED_MEMORY_H

#include "base/state.h"

void skelgen_touched_begin(struct skelgen_stream *s);
uint64_t skelgen_touched_count(struct skelgen_stream *s, uint64_t begin);
void skelgen_touched_mark(struct skelgen_stream *s);
void skelgen_touched_write(struct skelgen_stream *s);

#endif
