/*
 * sleeping_polls: ranks that sleep between two looks for a message, to leave their core to others.
 *
 *     sleeping_polls [steps] [microseconds between two looks] [units of work]
 *
 * Each rank works in turn and tells the next one. The others wait for their turn: by MPI_Test for
 * a posted receive, in every second round by MPI_Iprobe.
 */
#include "kinds.h"
#include <time.h>

enum { BYTES = 1024 };

static struct timespec pause_of = {0, 200000};

static void by_test(char *in, int source)
{
	MPI_Request request;
	int done;

	MPI_Irecv(in, BYTES, MPI_BYTE, source, 0, MPI_COMM_WORLD, &request);
	for (;;) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		nanosleep(&pause_of, NULL);
	}
}

static void by_probe(char *in, int source)
{
	int there;

	for (;;) {
		MPI_Iprobe(source, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
		if (there)
			break;
		nanosleep(&pause_of, NULL);
	}
	MPI_Recv(in, BYTES, MPI_BYTE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, ranks, steps = argument(argc, argv, 1, 600);
	double units = argument(argc, argv, 3, 6000);
	char out[BYTES] = {0}, in[BYTES];

	pause_of.tv_nsec = 1000L * argument(argc, argv, 2, 200);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < steps; i++) {
		if (rank == i % ranks) {
			work(units);
			MPI_Send(out, BYTES, MPI_BYTE, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
		}
		if (rank == (i + 1) % ranks)
			(i / ranks % 2 ? by_probe : by_test)(in, i % ranks);
	}
	MPI_Finalize();
	return 0;
}
