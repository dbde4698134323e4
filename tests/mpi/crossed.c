/*
 * Each rank broadcasts on a communicator of its own before it hears of the other one. That ends
 * where the root of a short broadcast goes on before all have come, which the standard does not
 * promise.
 */
#include <mpi.h>

enum { ROUNDS = 60 };

static volatile double sink;

static void work(int steps)
{
	for (int i = 0; i < steps; i++)
		sink = sink * 0.5 + 1.0;
}

int main(int argc, char **argv)
{
	MPI_Comm of[2];
	int rank, value = 0, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &of[0]);
	MPI_Comm_dup(MPI_COMM_WORLD, &of[1]);
	for (int i = 0; i < ROUNDS; i++) {
		work(1000000);
		MPI_Bcast(&value, 1, MPI_INT, rank, of[rank]);
		work(200000);
		MPI_Bcast(&value, 1, MPI_INT, !rank, of[!rank]);
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Comm_free(&of[0]);
	MPI_Comm_free(&of[1]);
	MPI_Finalize();
	return 0;
}
