/*
 * task_pool: a master that probes for whoever asks, and workers whose tasks differ.
 *
 *     task_pool [tasks] [units of work of a task]
 *
 * The master calls MPI_Iprobe until a message of any worker is there, and works a little between
 * two probes. A task takes one to three times the units; results are as long as their task.
 */
#include "kinds.h"

enum { RESULT = 1, TASK, STOP, BYTES = 256 };

static void serve(int tasks, int workers)
{
	char result[4 * BYTES];
	int given = 0, found;
	MPI_Status status;

	while (workers > 0) {
		MPI_Iprobe(MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &found, &status);
		if (!found) {
			work(2);
			continue;
		}
		MPI_Recv(result, sizeof(result), MPI_BYTE, status.MPI_SOURCE, RESULT,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&given, 1, MPI_INT, status.MPI_SOURCE, given < tasks ? TASK : STOP,
			 MPI_COMM_WORLD);
		workers -= given++ >= tasks;
	}
}

static void ask(double units)
{
	static char result[4 * BYTES];
	int task, size = 1;
	MPI_Status status;

	for (;;) {
		MPI_Send(result, size * BYTES, MPI_BYTE, 0, RESULT, MPI_COMM_WORLD);
		MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == STOP)
			return;
		size = 1 + task * 7 % 3;
		work(units * size);
	}
}

int main(int argc, char **argv)
{
	int rank, ranks, tasks = argument(argc, argv, 1, 2500);
	double units = argument(argc, argv, 2, 1000);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rank == 0)
		serve(tasks, ranks - 1);
	else
		ask(units);
	MPI_Finalize();
	return 0;
}
