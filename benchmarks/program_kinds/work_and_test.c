/*
 * work_and_test: ranks work in small parts, and test behind each whether a message has come.
 *
 *     work_and_test [rounds] [units of work of a part]
 *
 * So the library moves messages on meanwhile. Ranks work for 50 to 149 parts, each before it
 * sends: who was faster waits for the other.
 */
#include "kinds.h"

enum { BYTES = 100000, LEAST_PARTS = 50, MORE_PARTS = 100 };

static void part(double units, MPI_Request *request)
{
	int came;

	work(units);
	MPI_Test(request, &came, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, ranks, rounds = argument(argc, argv, 1, 3000);
	double units = argument(argc, argv, 2, 20);
	char *out = memory(BYTES), *in = memory(BYTES);
	MPI_Request coming, sent;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	begin_chance(rank);
	for (int i = 0; i < rounds; i++) {
		MPI_Irecv(in, BYTES, MPI_BYTE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
			  &coming);
		for (int left = LEAST_PARTS + any_below(MORE_PARTS); left > 0; left--)
			part(units, &coming);
		MPI_Isend(out, BYTES, MPI_BYTE, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &sent);
		MPI_Wait(&coming, MPI_STATUS_IGNORE);
		MPI_Wait(&sent, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
