/*
 * sparse_exchange: steps whose messages only their senders know.
 *
 *     sparse_exchange [steps] [units of work of a step]
 *
 * Each rank sends up to five messages per step, none in some steps, to ranks and with sizes that
 * follow no order. Receivers probe. When a rank's messages have arrived it enters a nonblocking
 * barrier, and goes on receiving until all ranks are there.
 */
#include "kinds.h"

enum { MOST = 5, LARGEST = 8192 };

/* Receive a message if one is there. */
static void receive_any(char *in)
{
	int found;
	MPI_Status status;

	MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, &status);
	if (found)
		MPI_Recv(in, LARGEST, MPI_BYTE, status.MPI_SOURCE, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
}

static void step(char *out, char *in, int ranks)
{
	MPI_Request sent[MOST], barrier;
	int number = any_below(MOST + 1), done = 0;

	for (int i = 0; i < number; i++)
		MPI_Issend(out, 8 << any_below(10), MPI_BYTE, any_below(ranks), 0, MPI_COMM_WORLD,
			   &sent[i]);
	while (!done) {
		receive_any(in);
		MPI_Testall(number, sent, &done, MPI_STATUSES_IGNORE);
	}
	MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
	for (done = 0; !done;) {
		receive_any(in);
		MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	int rank, ranks, steps = argument(argc, argv, 1, 3000);
	double units = argument(argc, argv, 2, 2000);
	char *out = memory(LARGEST), *in = memory(LARGEST);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	begin_chance(rank);
	for (int i = 0; i < steps; i++) {
		step(out, in, ranks);
		work(units);
	}
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
