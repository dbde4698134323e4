/*
 * Asks for its CPU time after some milliseconds of it, and after a second: rank 1 has that inside
 * MPI.
 */
#include <mpi.h>
#include <sys/resource.h>
#include <time.h>

/* CPU time of this thread [s], of which the recorder learns nothing. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute_and_ask(double seconds)
{
	struct rusage usage;
	double end = now() + seconds;

	while (now() < end)
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
