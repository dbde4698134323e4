/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in a file once. */
#ifndef SKELGEN_INTERNED_H
#define SKELGEN_INTERNED_H

#include "base/state.h"

bool skelgen_interned_open(struct skelgen_interned *interned);
void skelgen_interned_close(struct skelgen_interned *interned);
uint64_t skelgen_list(struct skelgen_stream *s);
uint32_t skelgen_vector(struct skelgen_stream *s, int64_t *counts, size_t n);
void skelgen_define_function(struct skelgen_stream *s, uint32_t id);
bool skelgen_known(struct skelgen_stream *s, enum skelgen_record_tag tag, uint32_t id);
bool skelgen_defined(struct skelgen_stream *s, enum skelgen_record_tag tag, uint32_t id);
const int64_t *skelgen_predicted_list(struct skelgen_stream *s, size_t *n);

#endif
