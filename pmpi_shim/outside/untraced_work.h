/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank does and no event shows. */
#ifndef SKELGEN_UNTRACED_WORK_H
#define SKELGEN_UNTRACED_WORK_H

#include "base/state.h"

void skelgen_unseen_begin(void);
void skelgen_unseen_thread_begins(struct skelgen_stream *s, uint64_t cpu_ns);
void skelgen_unseen_thread_ends(struct skelgen_stream *s);
void skelgen_unseen_stop(void);
void skelgen_unseen_write(struct skelgen_stream *s);

#endif
