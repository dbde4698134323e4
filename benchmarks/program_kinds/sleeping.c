/*
 * sleeping: a program that waits for something outside MPI between its calls.
 *
 *     sleeping [steps] [milliseconds asleep] [units of work]
 */
#include "kinds.h"
#include <time.h>

int main(int argc, char **argv)
{
	int rank, ranks, steps = argument(argc, argv, 1, 250);
	struct timespec pause = {0, 1000000L * argument(argc, argv, 2, 10)};
	double units = argument(argc, argv, 3, 6000);
	char out[1024] = {0}, in[2048];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < steps; i++) {
		exchange(out, in, 1024, rank, ranks, 0);
		nanosleep(&pause, NULL);
		work(units);
		agree(1.0);
	}
	MPI_Finalize();
	return 0;
}
