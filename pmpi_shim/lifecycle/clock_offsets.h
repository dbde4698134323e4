/* SPDX-License-Identifier: BSD-3-Clause */
/* How far apart the clocks of different hosts are. */
#ifndef SKELGEN_CLOCK_OFFSETS_H
#define SKELGEN_CLOCK_OFFSETS_H

#include "base/state.h"

bool skelgen_clock_prepare(int size);
void skelgen_clock_compare(bool several_hosts, uint64_t host);
void skelgen_clock_offsets(struct skelgen_stream *s, enum skelgen_clock_place place);
void skelgen_clock_release(void);

#endif
