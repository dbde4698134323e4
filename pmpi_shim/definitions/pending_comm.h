/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators whose handle is known when a request completes. */
#ifndef SKELGEN_PENDING_COMM_H
#define SKELGEN_PENDING_COMM_H

#include "base/mpi_library.h"

void skelgen_comm_promise(struct skelgen_stream *s, MPI_Comm parent, MPI_Comm *where);
void skelgen_comm_promise_fortran(struct skelgen_stream *s, MPI_Comm parent, const MPI_Fint *where);
void skelgen_comm_fulfil(uint64_t request);
void skelgen_promises_close(void);

#endif
