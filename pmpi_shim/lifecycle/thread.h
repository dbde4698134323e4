/* SPDX-License-Identifier: BSD-3-Clause */
/* Which threads record. */
#ifndef SKELGEN_THREAD_H
#define SKELGEN_THREAD_H

#include "base/state.h"

struct skelgen_stream *skelgen_begin_slow(uint32_t function, uintptr_t frame);
bool skelgen_threads_prepare(void);
void skelgen_run_begins(struct skelgen_stream *s);

#endif
