/*
 * Asks for its CPU time before and behind each part of its work, as programs with timers do: each
 * second query comes right behind another. One part in eight takes forty times as long. Between a
 * query and the next one there is seldom a call, for a short one counts as computation.
 */
#include <mpi.h>
#include <sys/resource.h>

enum { ROUNDS = 48, PARTS = 32 };

static volatile double sink;

static void work(int steps)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	for (int i = 0; i < steps; i++)
		sink = sink * 0.5 + 1.0;
	getrusage(RUSAGE_SELF, &usage);
}

int main(int argc, char **argv)
{
	double one = 1.0;
	double sum;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < PARTS; k++)
			work(k % 8 ? 10000 : 400000);
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
