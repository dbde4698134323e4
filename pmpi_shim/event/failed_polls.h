/* SPDX-License-Identifier: BSD-3-Clause */
/* Different polls that find nothing, in turn. */
#ifndef SKELGEN_EVENT_FAILED_POLLS_H
#define SKELGEN_EVENT_FAILED_POLLS_H

#include "base/state.h"

bool skelgen_poll_in_turn(struct skelgen_stream *s, const struct skelgen_call *call, uint64_t begin,
			  uint64_t end);
bool skelgen_poll_joins(struct skelgen_stream *s, uint64_t begin);
size_t skelgen_take_polls(struct skelgen_stream *s,
			  struct skelgen_poll held[SKELGEN_POLLS_IN_TURN]);

#endif
