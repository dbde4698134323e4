/*
 * multigrid: V-cycles over five levels.
 *
 *     multigrid [cycles] [units of work of a smoothing on the finest level]
 *
 * Each coarser level has an eighth of the points and a quarter of the halo. Going down a level
 * is smoothed twice, going up once; the coarsest level takes twenty sweeps and a sum each.
 */
#include "kinds.h"

enum { LEVELS = 5, BYTES = 65536 };

static char *out, *in;
static int rank, ranks;

static void smooth(int level, double units)
{
	exchange(out, in, BYTES >> (2 * level), rank, ranks, 2 * level);
	work(units / (double)(1 << (3 * level)));
}

int main(int argc, char **argv)
{
	int cycles = argument(argc, argv, 1, 200);
	double units = argument(argc, argv, 2, 5000);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	out = memory(BYTES);
	in = memory(2 * BYTES);
	for (int cycle = 0; cycle < cycles; cycle++) {
		for (int level = 0; level < LEVELS - 1; level++)
			for (int i = 0; i < 2; i++)
				smooth(level, units);
		for (int i = 0; i < 20; i++) {
			smooth(LEVELS - 1, units);
			agree(1.0);
		}
		for (int level = LEVELS - 2; level >= 0; level--)
			smooth(level, units);
		agree(1.0);
	}
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
