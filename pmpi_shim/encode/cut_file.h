/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens when a file is cut while it is mapped. */
#ifndef SKELGEN_CUT_FILE_H
#define SKELGEN_CUT_FILE_H

#include "base/state.h"

void skelgen_guard_open(void);
void skelgen_guard_close(void);
void skelgen_guard_window(struct skelgen_stream *s, uint8_t *window, size_t bytes);

#endif
