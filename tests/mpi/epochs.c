/*
 * A halo exchange between fences, one by post, start, complete and wait, a counter of work
 * behind locks, and operations in an epoch that lasts; four phases of equal iterations.
 */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 40, CELLS = 256 };

static int rank, size, left, right;
static double halo[2 * CELLS], own[CELLS];

static void work(void)
{
	double begin = MPI_Wtime();

	while (MPI_Wtime() - begin < 5e-5)
		own[rank] += 1e-9;
}

static MPI_Win window(void)
{
	double *memory;
	MPI_Win win;

	MPI_Win_allocate(2 * CELLS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &memory, &win);
	for (int i = 0; i < 2 * CELLS; i++)
		memory[i] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	return win;
}

static void fenced(void)
{
	MPI_Win win = window();

	MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
	for (int i = 0; i < ROUNDS; i++) {
		work();
		MPI_Put(own, CELLS, MPI_DOUBLE, left, CELLS, CELLS, MPI_DOUBLE, win);
		MPI_Put(own, CELLS, MPI_DOUBLE, right, 0, CELLS, MPI_DOUBLE, win);
		MPI_Win_fence(0, win);
	}
	MPI_Win_free(&win);
}

static void exposed(void)
{
	MPI_Win win = window();
	MPI_Group world, around;
	int neighbours[] = {left, right};

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, left == right ? 1 : 2, neighbours, &around);
	for (int i = 0; i < ROUNDS; i++) {
		work();
		MPI_Win_post(around, 0, win);
		MPI_Win_start(around, 0, win);
		MPI_Get(halo, CELLS, MPI_DOUBLE, left, 0, CELLS, MPI_DOUBLE, win);
		MPI_Get(halo + CELLS, CELLS, MPI_DOUBLE, right, 0, CELLS, MPI_DOUBLE, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
	}
	MPI_Group_free(&around);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
}

static void counted(void)
{
	MPI_Win win = window();
	double one = 1, before;

	for (int i = 0; i < ROUNDS; i++) {
		work();
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
		MPI_Fetch_and_op(&one, &before, MPI_DOUBLE, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
}

static void lasting(void)
{
	MPI_Win win = window();
	MPI_Request request;

	MPI_Win_lock_all(0, win);
	for (int i = 0; i < ROUNDS; i++) {
		work();
		MPI_Rput(own, CELLS, MPI_DOUBLE, right, 0, CELLS, MPI_DOUBLE, win, &request);
		MPI_Accumulate(own, 8, MPI_DOUBLE, left, CELLS, 8, MPI_DOUBLE, MPI_SUM, win);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Win_flush_all(win);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	fenced();
	exposed();
	counted();
	lasting();
	MPI_Finalize();
	return 0;
}
