/* SPDX-License-Identifier: BSD-3-Clause */
/* How often the program asks for its CPU time. */
#ifndef SKELGEN_CPU_TIME_QUERIES_H
#define SKELGEN_CPU_TIME_QUERIES_H

#include "base/state.h"

uint64_t skelgen_usage_asked(void);

#endif
