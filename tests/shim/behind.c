/* Another tool that sits behind the recorder and counts sends. */
#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	sends++;
	return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Finalize(void)
{
	printf("the other tool saw %d sends\n", sends);
	return PMPI_Finalize();
}
