/* Asks for its CPU time after some milliseconds, and after a second: rank 1 has that inside MPI. */
#include <mpi.h>
#include <sys/resource.h>

static void compute_and_ask(double seconds)
{
	struct rusage usage;
	double end = MPI_Wtime() + seconds;

	while (MPI_Wtime() < end)
		;
	getrusage(RUSAGE_SELF, &usage);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 20; i++)
		compute_and_ask(0.003);
	if (rank == 0)
		compute_and_ask(1.0);
	MPI_Barrier(MPI_COMM_WORLD);
	compute_and_ask(0.003);
	MPI_Finalize();
	return 0;
}
