/*
 * Asks by turns: for messages of so many tags as the first argument says, and for a request. With
 * more than three tags each poll has a record of its own, so that it takes a tenth of the time.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, there, done = 0, number = 0, tags = atoi(argv[argc - 1]);
	long probes = 0, tests = 0;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1) {
		for (double begin = MPI_Wtime(); MPI_Wtime() - begin < (tags > 3 ? 0.03 : 0.3);)
			;
		MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	} else {
		MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
		while (!done) {
			for (int tag = 1; tag <= tags; tag++, probes++)
				MPI_Iprobe(1, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
			tests += !done;
		}
		printf("%ld %ld\n", probes, tests);
	}
	MPI_Finalize();
	return 0;
}
