/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI_Init to the first record. */
#ifndef SKELGEN_START_H
#define SKELGEN_START_H

#include "base/state.h"

/* A call without arguments but one number. */
#define SKELGEN_CALL_ONLY(function_, site_, number) \
	{.site = site_,                             \
	 .function = function_,                     \
	 .peer = number,                            \
	 .tag = SKELGEN_NO_TAG,                     \
	 .peer2 = SKELGEN_NO_PEER,                  \
	 .tag2 = SKELGEN_NO_TAG}

bool skelgen_init_begin(void);
bool skelgen_init_done(int code);
void skelgen_init_end(int code, uint32_t function, uint64_t site);
void skelgen_start(uint32_t function, uint64_t site, uint64_t end, uint64_t since);
void skelgen_tell_unseen(void);

#endif
