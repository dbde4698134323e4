/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites: where a call returns to and, when asked for, what called that. */
#ifndef SKELGEN_CALL_SITE_H
#define SKELGEN_CALL_SITE_H

#include "base/state.h"

#define SKELGEN_MOST_FRAMES 64
void skelgen_site_prepare(void);
uint32_t skelgen_site_id(struct skelgen_stream *s, uint64_t site);
uint64_t skelgen_site_deepen(struct skelgen_stream *s, uint64_t site);

#endif
