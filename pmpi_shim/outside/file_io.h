/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes of files outside MPI by threads that call MPI. */
#ifndef SKELGEN_FILE_IO_H
#define SKELGEN_FILE_IO_H

#include "base/state.h"

struct skelgen_file_io {
	uint64_t ticks;
	uint64_t bytes;
};
struct skelgen_file_io skelgen_file_io_take(void);

#endif
