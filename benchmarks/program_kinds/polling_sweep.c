/*
 * polling_sweep: a transport sweep whose ranks poll for what they wait for.
 *
 *     polling_sweep [sweeps] [tasks of a sweep] [units of work of a task]
 *
 * Tasks of a rank are ready when a message of the rank before it has come. The rank posts all
 * receives of a sweep, works on what is ready, and calls MPI_Testsome between two tasks and
 * while nothing is ready. In every second sweep the data flow the other way.
 */
#include "kinds.h"

enum { BYTES = 2048 };

static void sweep(int first, int source, int target, int tasks, double units)
{
	MPI_Request *in = memory((size_t)tasks * sizeof(*in));
	MPI_Request *out = memory((size_t)tasks * sizeof(*out));
	char *from = memory((size_t)tasks * BYTES), *to = memory(BYTES);
	int *done = memory((size_t)tasks * sizeof(*done));
	int ready = first ? tasks : 0, worked = 0, found = 0;

	for (int i = 0; i < tasks; i++) {
		in[i] = out[i] = MPI_REQUEST_NULL;
		if (!first)
			MPI_Irecv(from + (size_t)i * BYTES, BYTES, MPI_BYTE, source, i,
				  MPI_COMM_WORLD, &in[i]);
	}
	while (worked < tasks) {
		if (!first && ready < tasks) {
			MPI_Testsome(tasks, in, &found, done, MPI_STATUSES_IGNORE);
			ready += found == MPI_UNDEFINED ? 0 : found;
		}
		if (worked == ready)
			continue;
		work(units * (0.8 + 0.4 * (worked % 5) / 4.0));
		if (target >= 0)
			MPI_Isend(to, BYTES, MPI_BYTE, target, worked, MPI_COMM_WORLD,
				  &out[worked]);
		worked++;
	}
	MPI_Waitall(tasks, out, MPI_STATUSES_IGNORE);
	free(in);
	free(out);
	free(from);
	free(to);
	free(done);
}

int main(int argc, char **argv)
{
	int rank, ranks, sweeps = argument(argc, argv, 1, 150), tasks = argument(argc, argv, 2, 40);
	double units = argument(argc, argv, 3, 250);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < sweeps; i++) {
		int step = i % 2 ? -1 : 1, begin = i % 2 ? ranks - 1 : 0, end = ranks - 1 - begin;

		sweep(rank == begin, rank - step, rank == end ? -1 : rank + step, tasks, units);
		if (i % 10 == 9)
			agree(1.0);
	}
	MPI_Finalize();
	return 0;
}
