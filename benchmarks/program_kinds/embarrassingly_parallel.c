/*
 * embarrassingly_parallel: hardly any calls.
 *
 *     embarrassingly_parallel [seconds]
 *
 * Each rank draws its own numbers; three sums at the end are all that they say to each other.
 */
#include "kinds.h"

int main(int argc, char **argv)
{
	double units = 1e6 * argument(argc, argv, 1, 5);

	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	work(units);
	for (int i = 0; i < 3; i++)
		agree(kept);
	MPI_Finalize();
	return 0;
}
