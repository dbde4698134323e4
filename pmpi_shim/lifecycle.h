/* SPDX-License-Identifier: BSD-3-Clause */
/* What the begin and the end of a recording share: start.c, thread.c, ending.c. */
#ifndef SKELGEN_LIFECYCLE_H
#define SKELGEN_LIFECYCLE_H

#include "wrap.h"

/* A call without arguments but one number. */
#define SKELGEN_CALL_ONLY(function_, site_, number) \
	{.site = site_,                             \
	 .function = function_,                     \
	 .peer = number,                            \
	 .tag = SKELGEN_NO_TAG,                     \
	 .peer2 = SKELGEN_NO_PEER,                  \
	 .tag2 = SKELGEN_NO_TAG}

void skelgen_tell_unseen(void);
bool skelgen_threads_prepare(void);
void skelgen_run_begins(struct skelgen_stream *s);

#endif
