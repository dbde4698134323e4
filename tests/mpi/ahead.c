/*
 * A ring in which each rank computes, passes a number on and writes down what it has become:
 * what a run has done when it is stopped can be compared with a run that goes on to its end.
 *
 *     mpirun -n 2 ahead STEPS FOLDER [ahead]
 *
 * With "ahead" the receive of the next step is posted before that of this one has ended, so a
 * request is open wherever the program is stopped.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t worked(uint64_t value)
{
	for (int i = 0; i < 100000; i++)
		value = value * 6364136223846793005u + 1442695040888963407u;
	return value;
}

int main(int argc, char **argv)
{
	int rank, size, steps = argc > 1 ? atoi(argv[1]) : 10, ahead = argc > 3;
	char name[4096];
	uint64_t mine, from[2];
	MPI_Request request[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	snprintf(name, sizeof(name), "%s/rank-%d", argc > 2 ? argv[2] : ".", rank);
	FILE *file = fopen(name, "w");
	if (!file)
		MPI_Abort(MPI_COMM_WORLD, 1);
	setvbuf(file, NULL, _IOLBF, BUFSIZ); /* what is written is seen at once */
	mine = (uint64_t)rank;
	if (ahead)
		MPI_Irecv(&from[0], 1, MPI_UINT64_T, previous, 0, MPI_COMM_WORLD, &request[0]);
	for (int step = 0; step < steps; step++) {
		int now = ahead ? step % 2 : 0, later = ahead ? 1 - now : 0;

		mine = worked(mine);
		if (!ahead || step + 1 < steps)
			MPI_Irecv(&from[later], 1, MPI_UINT64_T, previous, 0, MPI_COMM_WORLD,
				  &request[later]);
		MPI_Send(&mine, 1, MPI_UINT64_T, next, 0, MPI_COMM_WORLD);
		MPI_Wait(&request[now], MPI_STATUS_IGNORE);
		mine ^= from[now];
		fprintf(file, "%llu\n", (unsigned long long)mine);
	}
	fclose(file);
	MPI_Finalize();
	return 0;
}
