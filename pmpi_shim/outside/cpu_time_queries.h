/* SPDX-License-Identifier: BSD-3-Clause */
/* How often the program asks for its CPU time, and how far apart. */
#ifndef SKELGEN_CPU_TIME_QUERIES_H
#define SKELGEN_CPU_TIME_QUERIES_H

#include "base/state.h"

void skelgen_queries_write(struct skelgen_stream *s);

#endif
