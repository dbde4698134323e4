/* SPDX-License-Identifier: BSD-3-Clause */
/* What all clocks read at the same time. */
#ifndef SKELGEN_CLOCK_RECORD_H
#define SKELGEN_CLOCK_RECORD_H

#include "base/state.h"

void skelgen_clock_record(struct skelgen_stream *s, enum skelgen_clock_place place);
void skelgen_grow(struct skelgen_stream *s);

#endif
