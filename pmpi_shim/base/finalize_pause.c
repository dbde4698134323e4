/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks enter MPI_Finalize: what the one of MPICH before 4.2 over UCX and TCP demands. */
#include "base/finalize_pause.h"

#include "base/mpi_library.h"

/* Longer than a rank that could run waits for its core. */
#define PAUSE_NS 100000000

/*
 * In that MPI_Finalize a rank asks each other one whether everything has arrived, and when all have
 * answered it waits for them in PMI, where it answers nobody any more. A rank that still received
 * when another one asked has answered too early: its own question then stays without an answer and
 * neither ever returns. Programs can hang so by themselves; what we exchange at their end would
 * make it likely. So nobody asks before all have received their last message, and from there on
 * nobody receives.
 */
void skelgen_pause_before_finalize(void)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
	struct timespec left = {.tv_nsec = PAUSE_NS};
	MPI_Comm node;
	int size = 0;

	if (!skelgen.over_ucx)
		return;
	pmpi.Comm_split_type(mpi.comm_world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	pmpi.Comm_size(node, &size);
	pmpi.Comm_free(&node);
	if (size == skelgen.size)
		return;
	pmpi.Barrier(mpi.comm_world);
	while (nanosleep(&left, &left))
		; /* a signal came */
#endif
}
