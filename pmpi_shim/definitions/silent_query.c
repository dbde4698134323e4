/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions about handles that may be wrong. In MPICH a call that failed returns MPI_SUCCESS once
 * an error handler of the program has returned, so only MPI can tell whether its handles are wrong,
 * and it tells the handler of MPI_COMM_SELF or MPI_COMM_WORLD as well. While we ask, the program's
 * own handlers are out of the way. MPI's own stay: in MPICH a communicator without a handler
 * differs from one that was given MPI_ERRORS_ARE_FATAL, and cannot be had back.
 */
#include "definitions/silent_query.h"

#include "base/mpi_library.h"

/* Take away a handler of the program; MPI_ERRHANDLER_NULL: there is none. */
static MPI_Errhandler silence(MPI_Comm comm)
{
	MPI_Errhandler own = MPI_ERRHANDLER_NULL;

	if (pmpi.Comm_get_errhandler(comm, &own) != MPI_SUCCESS)
		return MPI_ERRHANDLER_NULL;
	if (own == MPI_ERRORS_RETURN || own == MPI_ERRORS_ARE_FATAL)
		pmpi.Errhandler_free(&own); /* sets it to MPI_ERRHANDLER_NULL */
	else
		pmpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	return own;
}

static void restore(MPI_Comm comm, MPI_Errhandler own)
{
	if (own == MPI_ERRHANDLER_NULL)
		return;
	pmpi.Comm_set_errhandler(comm, own);
	pmpi.Errhandler_free(&own);
}

struct skelgen_unheard skelgen_ask(void)
{
	struct skelgen_unheard own = {0};

	if (skelgen.world_model)
		own = (struct skelgen_unheard){silence(mpi.comm_world), silence(mpi.comm_self)};
	return own;
}

void skelgen_asked(struct skelgen_unheard own)
{
	if (!skelgen.world_model)
		return;
	restore(mpi.comm_self, own.self);
	restore(mpi.comm_world, own.world);
}
