/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a stream, through a window that is mapped. */
#ifndef SKELGEN_MAPPED_FILE_H
#define SKELGEN_MAPPED_FILE_H

#include "base/state.h"

bool skelgen_size_allowed(uint64_t bytes);
int skelgen_file_open(struct skelgen_stream *s);
void skelgen_file_begin(struct skelgen_stream *s, const struct skelgen_header *header);
bool skelgen_reserve(struct skelgen_stream *s, size_t bytes);
void skelgen_define(struct skelgen_stream *s, enum skelgen_record_tag tag, const uint8_t *payload,
		    size_t bytes);
void skelgen_file_end(struct skelgen_stream *s, enum skelgen_end reason, int code);

/* Behind `limit` there is room for the longest ordinary event, and then for CHECK and END. */
#define SKELGEN_MARGIN 288

#endif
