/* SPDX-License-Identifier: BSD-3-Clause */
/* What windows and files are, beside their group. */
#ifndef SKELGEN_WINDOWS_AND_FILES_H
#define SKELGEN_WINDOWS_AND_FILES_H

#include "base/state.h"

void skelgen_window_made(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			 uint64_t window, int64_t bytes, int64_t unit);
void skelgen_file_made(struct skelgen_stream *s, MPI_Comm parent, uint64_t file, const char *name,
		       int mode);
uint32_t skelgen_group_members(struct skelgen_stream *s, MPI_Win window, MPI_Group group);

#endif
