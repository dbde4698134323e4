/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of threads: their files, headers and ends. */
#ifndef SKELGEN_STREAM_H
#define SKELGEN_STREAM_H

#include "base/state.h"

uint64_t skelgen_host(void);
bool skelgen_right_library(void);
void skelgen_header_fill(uint64_t start_ticks, int64_t start_realtime_ns);
struct skelgen_stream *skelgen_stream_new(int thread);
void skelgen_stream_free(struct skelgen_stream *s);
bool skelgen_stream_create_file(struct skelgen_stream *s);
void skelgen_stream_begin(struct skelgen_stream *s, uint64_t ticks, uint64_t cpu_ns);
void skelgen_stream_end(struct skelgen_stream *s, enum skelgen_end reason, int code);
struct skelgen_stream *skelgen_stream_of_thread(void);

#endif
