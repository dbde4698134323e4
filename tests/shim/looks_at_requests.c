/* Asks for the status of a request until it is complete, and once more. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, done = 0, number = 0;
	long failed = 0;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1) {
		for (double begin = MPI_Wtime(); MPI_Wtime() - begin < 0.05;)
			;
		MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	} else {
		MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
		while (MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE), !done)
			failed++;
		MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		printf("%ld\n", failed);
	}
	MPI_Finalize();
	return number != (rank == 0);
}
