/*
 * work_in_ticks: ranks work in small parts, and look for a message behind each of them.
 *
 *     work_in_ticks [rounds] [units of work of a part]
 *
 * The messages that they look for never come: a rank is told to stop that way. After 50 to 149
 * parts it sends its neighbour what it found, and waits for what that found.
 */
#include "kinds.h"

enum { BYTES = 800, LEAST_PARTS = 50, MORE_PARTS = 100, RESULT = 1, STOP = 2 };

static void tick(double units)
{
	int stopped;

	work(units);
	MPI_Iprobe(MPI_ANY_SOURCE, STOP, MPI_COMM_WORLD, &stopped, MPI_STATUS_IGNORE);
	if (stopped)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
	int rank, ranks, rounds = argument(argc, argv, 1, 12000);
	double units = argument(argc, argv, 2, 5);
	char *out = memory(BYTES), *in = memory(BYTES);
	MPI_Request sent;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	begin_chance(rank);
	for (int i = 0; i < rounds; i++) {
		for (int left = LEAST_PARTS + any_below(MORE_PARTS); left > 0; left--)
			tick(units);
		MPI_Isend(out, BYTES, MPI_BYTE, (rank + 1) % ranks, RESULT, MPI_COMM_WORLD, &sent);
		MPI_Recv(in, BYTES, MPI_BYTE, (rank + ranks - 1) % ranks, RESULT, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Wait(&sent, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
