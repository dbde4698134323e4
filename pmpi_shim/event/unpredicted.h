/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that were not predicted though their shapes are known. */
#ifndef SKELGEN_UNPREDICTED_H
#define SKELGEN_UNPREDICTED_H

#include "base/state.h"

bool skelgen_values_changed(const struct skelgen_shape *shape, const struct skelgen_call *call);
uint8_t *skelgen_put_values(uint8_t *p, struct skelgen_shape *shape,
			    const struct skelgen_call *call);
uint8_t *skelgen_put_counts(uint8_t *p, struct skelgen_shape *shape,
			    const struct skelgen_call *call, unsigned *tag);
void skelgen_count_miss(struct skelgen_shape *shape, int64_t a, int64_t b);
bool skelgen_event_known(struct skelgen_stream *s, const struct skelgen_call *call, uint64_t begin,
			 uint64_t end);
void skelgen_write_taken(struct skelgen_stream *s, int64_t count_a, int64_t count_b, uint64_t begin,
			 uint64_t end);

#endif
