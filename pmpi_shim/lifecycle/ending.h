/* SPDX-License-Identifier: BSD-3-Clause */
/* What ends or pauses a recording. */
#ifndef SKELGEN_ENDING_H
#define SKELGEN_ENDING_H

#include "base/state.h"

struct skelgen_finalize {
	struct skelgen_stream *stream;
	uint64_t begin;
	bool ends; /* whether the recording ends here */
};

struct skelgen_finalize skelgen_ending(void);
struct skelgen_finalize skelgen_finalize_begin(void);
void skelgen_finalize_end(struct skelgen_finalize state, int code, uint32_t function,
			  uint64_t site);
void skelgen_aborting(uint32_t function, uint64_t site, int errorcode);
void skelgen_control(uint32_t function, uint64_t site, int level);

#endif
