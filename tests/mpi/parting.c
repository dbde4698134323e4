/*
 * Rank 0 receives once more when rank 1 is in MPI_Finalize. MPICH 4.0 over UCX never leaves it
 * then.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static void rest(void)
{
	const struct timespec some = {.tv_nsec = 20000000};

	nanosleep(&some, NULL);
}

int main(int argc, char **argv)
{
	int rank, found;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		rest();
		MPI_Iprobe(1, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
		rest();
	}
	MPI_Finalize();
	if (rank == 0)
		puts("ended");
	return 0;
}
