/*
 * event_simulation: steps with as many messages as there happen to be events.
 *
 *     event_simulation [steps] [units of work of an event]
 *
 * Each rank has up to three events for every rank, also for itself, and tells all how many. Some
 * steps have nothing to send or to receive. An event is worked on, then sent; all are completed
 * at the end of the step.
 */
#include "kinds.h"

enum { MOST = 3, MOST_RANKS = 64, BYTES = 4096 };

static void step(char *out, char *in, int ranks, double units)
{
	static MPI_Request request[2 * MOST * MOST_RANKS];
	int mine[MOST_RANKS] = {0}, theirs[MOST_RANKS], pending = 0;

	for (int to = 0; to < ranks; to++)
		mine[to] = any_below(MOST + 1) * any_below(2);
	MPI_Alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
	for (int from = 0; from < ranks; from++)
		for (int i = 0; i < theirs[from]; i++)
			MPI_Irecv(in, BYTES, MPI_BYTE, from, 0, MPI_COMM_WORLD,
				  &request[pending++]);
	for (int to = 0; to < ranks; to++)
		for (int i = 0; i < mine[to]; i++) {
			work(units * (1 + any_below(3)));
			MPI_Isend(out, 16 + any_below(BYTES - 16), MPI_BYTE, to, 0, MPI_COMM_WORLD,
				  &request[pending++]);
		}
	MPI_Waitall(pending, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, ranks, steps = argument(argc, argv, 1, 1500);
	double units = argument(argc, argv, 2, 1000);
	char *out = memory(BYTES), *in = memory(BYTES);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks > MOST_RANKS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	begin_chance(rank);
	for (int i = 0; i < steps; i++)
		step(out, in, ranks, units);
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
