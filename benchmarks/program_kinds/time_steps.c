/*
 * time_steps: a code with few, long time steps.
 *
 *     time_steps [steps] [milliseconds of a step] [solver iterations of a step]
 *
 * A step exchanges halos, then iterates a solver: halos, work, a sum. Every tenth step gathers
 * output on rank 0.
 */
#include "kinds.h"

enum { BYTES = 16384, EVERY = 10 };

int main(int argc, char **argv)
{
	int rank, ranks, steps = argument(argc, argv, 1, 87), inner = argument(argc, argv, 3, 12);
	double units = 1000.0 * argument(argc, argv, 2, 40) / (inner + 2);
	char *out = memory(BYTES), *in = memory(2 * BYTES), *all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	all = memory((size_t)ranks * BYTES);
	for (int step = 1; step <= steps; step++) {
		exchange(out, in, BYTES, rank, ranks, 0);
		work(2 * units);
		for (int i = 0; i < inner; i++) {
			exchange(out, in, BYTES / 4, rank, ranks, 2);
			work(units);
			agree(1.0);
		}
		if (step % EVERY == 0)
			MPI_Gather(out, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
	}
	free(all);
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
