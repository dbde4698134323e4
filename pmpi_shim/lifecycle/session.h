/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs without MPI_Init. */
#ifndef SKELGEN_SESSION_H
#define SKELGEN_SESSION_H

#include "lifecycle/ending.h"

bool skelgen_session_enter(void);
void skelgen_session_leave(bool outer);
void skelgen_session_opened(int code, bool first, const void *handle, bool fortran,
			    uint32_t function, uint64_t site);
void skelgen_session_joined(int code, const MPI_Comm *created);
struct skelgen_finalize skelgen_session_closing(bool outer);

#endif
