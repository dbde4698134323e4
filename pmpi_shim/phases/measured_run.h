/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that are measured, phase by phase, instead of recorded. */
#ifndef SKELGEN_MEASURED_RUN_H
#define SKELGEN_MEASURED_RUN_H

#include "base/state.h"

extern bool skelgen_measuring;
void skelgen_phase_check(struct skelgen_stream *s);
void skelgen_phase_begin(struct skelgen_stream *s);
struct skelgen_stream *skelgen_phase_enter(uint32_t function, uintptr_t frame);
void skelgen_phase_end(bool finalizing);

#endif
