/* SPDX-License-Identifier: BSD-3-Clause */
/* Where rank files stand, and how they get there. */
#ifndef SKELGEN_TRACE_FOLDER_H
#define SKELGEN_TRACE_FOLDER_H

#include "base/state.h"

void skelgen_folder_use(uint64_t world);
uint64_t skelgen_folder_take(int *error);
void skelgen_folder_leave(void);
const char *skelgen_folder(void);
void skelgen_folder_name(struct skelgen_stream *s);
int skelgen_folder_open(const struct skelgen_stream *s);
void skelgen_folder_remove(struct skelgen_stream *s);
void skelgen_folder_deliver(struct skelgen_stream *s);
void skelgen_folder_remark(struct skelgen_stream *s);

#endif
