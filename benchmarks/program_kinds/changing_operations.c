/*
 * changing_operations: what a step does follows no order.
 *
 *     changing_operations [steps] [units of work of a step]
 *
 * All ranks agree on one of six operations for each step, as programs do that interpret a script
 * or choose by what came out of the last step.
 */
#include "kinds.h"

enum { BYTES = 16384 };

static void step(int operation, char *out, char *in, int rank, int ranks)
{
	switch (operation) {
	case 0:
		MPI_Barrier(MPI_COMM_WORLD);
		break;
	case 1:
		agree(1.0);
		break;
	case 2:
		MPI_Bcast(out, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
		break;
	case 3:
		exchange(out, in, 512, rank, ranks, 0);
		break;
	case 4:
		exchange(out, in, BYTES, rank, ranks, 2);
		break;
	default:
		MPI_Allgather(out, 64, MPI_BYTE, in, 64, MPI_BYTE, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int rank, ranks, steps = argument(argc, argv, 1, 3000);
	double units = argument(argc, argv, 2, 2000);
	char *out = memory(BYTES), *in;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	in = memory((size_t)(ranks > 2 ? ranks : 2) * BYTES);
	begin_chance(0);
	for (int i = 0; i < steps; i++) {
		step(any_below(6), out, in, rank, ranks);
		work(units);
	}
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
