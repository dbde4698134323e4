/*
 * timed: says how long an MPI program took from Init to Finalize; loaded by LD_PRELOAD.
 *
 *     mpirun -n 2 env LD_PRELOAD=./timed.so ./app
 */
#include <mpi.h>
#include <stdio.h>

static double begin;

static void start(void)
{
	PMPI_Barrier(MPI_COMM_WORLD);
	begin = PMPI_Wtime();
}

int MPI_Init(int *count, char ***words)
{
	int error = PMPI_Init(count, words);

	start();
	return error;
}

int MPI_Init_thread(int *count, char ***words, int wanted, int *given)
{
	int error = PMPI_Init_thread(count, words, wanted, given);

	start();
	return error;
}

int MPI_Finalize(void)
{
	double own = PMPI_Wtime() - begin, longest = own;
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		fprintf(stderr, "timed: %.6f s\n", longest);
	return PMPI_Finalize();
}
