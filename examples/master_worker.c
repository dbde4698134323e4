/*
 * master_worker: rank 0 hands out tasks of different length to whoever asks.
 *
 * The master receives results from MPI_ANY_SOURCE and answers the sender with the next
 * task, or with the tag that ends its work. A task is one row of the Mandelbrot set.
 *
 *     mpirun -n 4 master_worker [rows] [points of a row] [iterations of a point]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASK = 1, RESULT = 2, STOP = 3 };

static long mandelbrot_row(int row, int rows, int points, int limit)
{
	long inside = 0;

	for (int k = 0; k < points; k++) {
		double cx = -2.0 + 3.0 * k / points, cy = -1.5 + 3.0 * row / rows;
		double x = 0.0, y = 0.0;
		int i = 0;
		while (i < limit && x * x + y * y < 4.0) {
			double t = x * x - y * y + cx;
			y = 2.0 * x * y + cy;
			x = t;
			i++;
		}
		inside += i == limit;
	}
	return inside;
}

static long hand_out(int rows, int workers)
{
	long result, total = 0;
	int row = 0, busy = 0;
	MPI_Status status;

	for (int w = 1; w <= workers && row < rows; w++, row++, busy++)
		MPI_Send(&row, 1, MPI_INT, w, TASK, MPI_COMM_WORLD);
	while (busy > 0) {
		MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
		total += result;
		if (row < rows) {
			MPI_Send(&row, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
			row++;
		} else {
			busy--;
		}
	}
	for (int w = 1; w <= workers; w++)
		MPI_Send(&row, 1, MPI_INT, w, STOP, MPI_COMM_WORLD);
	return total;
}

static void work(int rows, int points, int limit)
{
	MPI_Status status;
	int row;

	for (;;) {
		MPI_Recv(&row, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == STOP)
			return;
		long inside = mandelbrot_row(row, rows, points, limit);
		MPI_Send(&inside, 1, MPI_LONG, 0, RESULT, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int ranks, rank;

	MPI_Init(&argc, &argv);
	int rows = argc > 1 ? atoi(argv[1]) : 1000;
	int points = argc > 2 ? atoi(argv[2]) : 1000;
	int limit = argc > 3 ? atoi(argv[3]) : 1000;
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (ranks < 2) {
		fprintf(stderr, "master_worker: needs a master and at least one worker\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (rank == 0)
		printf("master_worker: %ld points inside\n", hand_out(rows, ranks - 1));
	else
		work(rows, points, limit);
	MPI_Finalize();
	return 0;
}
