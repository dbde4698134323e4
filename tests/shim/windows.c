/* Windows in all their ways of synchronising, on three ranks; prints what arrived. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static long sum;

static void fences(MPI_Comm comm)
{
	double *memory, value = rank + 1;
	MPI_Win win;

	MPI_Win_allocate(8 * sizeof(double), sizeof(double), MPI_INFO_NULL, comm, &memory, &win);
	memory[0] = 0;
	MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
	for (int i = 0; i < 3; i++) {
		MPI_Put(&value, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE, win);
		MPI_Accumulate(&value, 1, MPI_DOUBLE, rank, 1, 1, MPI_DOUBLE, MPI_SUM, win);
		MPI_Put(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win);
		MPI_Win_fence(i == 2 ? MPI_MODE_NOSUCCEED : 0, win);
	}
	sum += (long)memory[0];
	MPI_Win_free(&win);
}

static void groups(void)
{
	int memory[4] = {0}, value = 10 * rank, neighbours[2];
	MPI_Group world, around;
	MPI_Win win;
	int ready;

	neighbours[0] = (rank + 1) % size;
	neighbours[1] = (rank + size - 1) % size;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, neighbours, &around);
	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	for (int i = 0; i < 2; i++) {
		MPI_Win_post(around, 0, win);
		MPI_Win_start(around, 0, win);
		MPI_Put(&value, 1, MPI_INT, neighbours[0], 2, 1, MPI_INT, win);
		MPI_Win_complete(win);
		if (i)
			MPI_Win_wait(win);
		for (ready = i; !ready;)
			MPI_Win_test(win, &ready);
	}
	sum += memory[2];
	MPI_Win_free(&win);
	MPI_Group_free(&around);
	MPI_Group_free(&world);
}

static void locks(void)
{
	int *memory, one = 1, old = 0, zero = 0, values[2] = {rank, rank};
	MPI_Request request;
	MPI_Win win;

	MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
			 &win);
	memory[0] = memory[1] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++) {
		MPI_Win_lock(i ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	MPI_Rput(values, 2, MPI_INT, rank, 2, 2, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Get(values, 2, MPI_INT, (rank + 1) % size, 2, 2, MPI_INT, win);
	MPI_Win_flush_local((rank + 1) % size, win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &old, 1, MPI_INT, 0, 0, 1, MPI_INT,
			   MPI_NO_OP, win);
	MPI_Compare_and_swap(&one, &zero, values, MPI_INT, 0, 1, win);
	MPI_Win_flush_all(win);
	MPI_Win_sync(win);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	sum += old;
	MPI_Win_free(&win);
}

static void other_windows(void)
{
	int *memory, own[2] = {5, 6};
	MPI_Win win;

	MPI_Win_allocate_shared(2 * sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
	MPI_Win_free(&win);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_attach(win, own, sizeof(own));
	MPI_Win_detach(win, own);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	MPI_Comm other;
	long total;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	fences(other);
	groups();
	locks();
	other_windows();
	MPI_Comm_free(&other);
	MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("sum %ld\n", total);
	MPI_Finalize();
	return 0;
}
