/*
 * master_worker: rank 0 hands out tasks of different length to whoever asks.
 *
 * The master answers whoever hands in a result with the next task, or with the tag that
 * ends its work. It receives results from MPI_ANY_SOURCE (any), or posts a receive for
 * each worker and waits for one of them (posted), or asks until one is there (polled).
 * A task is one row of the Mandelbrot set.
 *
 *     mpirun -n 4 master_worker [rows] [points of a row] [iterations of a point]
 *                               [any|posted|polled]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void send_task(int worker, int row, long *result, MPI_Request *request)
{
	MPI_Irecv(result, 1, MPI_LONG, worker, RESULT, MPI_COMM_WORLD, request);
	MPI_Send(&row, 1, MPI_INT, worker, TASK, MPI_COMM_WORLD);
}

static long hand_out_posted(int rows, int workers, int polls)
{
	long *results = calloc(workers, sizeof *results), total = 0;
	MPI_Request *requests = calloc(workers, sizeof *requests);
	int row = 0, busy = 0, w;

	for (w = 0; w < workers; w++)
		requests[w] = MPI_REQUEST_NULL;
	for (w = 0; w < workers && row < rows; w++, busy++)
		send_task(w + 1, row++, &results[w], &requests[w]);
	while (busy > 0) {
		int found = 0;
		while (polls && !found)
			MPI_Testany(workers, requests, &w, &found, MPI_STATUS_IGNORE);
		if (!polls)
			MPI_Waitany(workers, requests, &w, MPI_STATUS_IGNORE);
		total += results[w];
		if (row < rows)
			send_task(w + 1, row++, &results[w], &requests[w]);
		else
			busy--;
	}
	for (w = 1; w <= workers; w++)
		MPI_Send(&row, 1, MPI_INT, w, STOP, MPI_COMM_WORLD);
	free(results);
	free(requests);
	return total;
}

static long serve(const char *way, int rows, int workers)
{
	if (strcmp(way, "any") == 0)
		return hand_out(rows, workers);
	return hand_out_posted(rows, workers, strcmp(way, "polled") == 0);
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
	const char *way = argc > 4 ? argv[4] : "any";
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (ranks < 2) {
		fprintf(stderr, "master_worker: needs a master and at least one worker\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (rank == 0)
		printf("master_worker: %ld points inside\n", serve(way, rows, ranks - 1));
	else
		work(rows, points, limit);
	MPI_Finalize();
	return 0;
}
