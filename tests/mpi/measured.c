/*
 * Steps that all do one unusual thing and check what came of it, to be measured and stopped.
 *
 *     mpirun -n 2 measured STEPS persistent|window|pcontrol|group|jump|session
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm comm = MPI_COMM_WORLD;
static int rank, size, sent, received;

static volatile uint64_t value = 1;

static void work(void)
{
	for (int i = 0; i < 300000; i++)
		value = value * 6364136223846793005u + 1442695040888963407u;
}

static void check(int is, int expected)
{
	if (is != expected) {
		fprintf(stderr, "rank %d has %d, expected %d\n", rank, is, expected);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
}

static void pass_on(int step)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;

	sent = step * size + rank;
	MPI_Sendrecv(&sent, 1, MPI_INT, next, 0, &received, 1, MPI_INT, previous, 0, comm,
		     MPI_STATUS_IGNORE);
	check(received, step * size + previous);
}

static void persistent(int steps)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	MPI_Request request[2];
	MPI_Status status[2];

	MPI_Send_init(&sent, 1, MPI_INT, next, 0, comm, &request[0]);
	MPI_Recv_init(&received, 1, MPI_INT, previous, 0, comm, &request[1]);
	for (int step = 0; step < steps; step++) {
		work();
		sent = step * size + rank;
		MPI_Startall(2, request);
		MPI_Waitall(2, request, status);
		check(received, step * size + previous);
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

static void window(int steps)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	int *exposed;
	MPI_Win win;

	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &exposed, &win);
	MPI_Win_fence(0, win);
	for (int step = 0; step < steps; step++) {
		work();
		sent = step * size + rank;
		MPI_Put(&sent, 1, MPI_INT, next, 0, 1, MPI_INT, win);
		MPI_Win_fence(0, win);
		check(*exposed, step * size + previous);
		MPI_Win_fence(0, win);
	}
	MPI_Win_free(&win);
}

/* Only one step of two is recorded. */
static void pcontrol(int steps)
{
	for (int step = 0; step < steps; step++) {
		work();
		pass_on(step);
		MPI_Pcontrol(0);
		pass_on(step);
		MPI_Pcontrol(1);
	}
}

/* Ranks make their communicator at different places of a step, and no collective call. */
static void group(int steps)
{
	MPI_Group all;
	MPI_Comm own;
	MPI_Request request;

	MPI_Comm_group(comm, &all);
	for (int step = 0; step < steps; step++) {
		work();
		sent = step;
		if (rank)
			MPI_Isend(&sent, 1, MPI_INT, 0, 0, comm, &request);
		MPI_Comm_create_group(comm, all, 4, &own);
		MPI_Comm_free(&own);
		if (rank) {
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			continue;
		}
		for (int from = 1; from < size; from++) {
			MPI_Recv(&received, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
			check(received, step);
		}
	}
	MPI_Group_free(&all);
}

static jmp_buf before;

static void leave(MPI_Comm *at, int *code, ...)
{
	(void)at;
	(void)code;
	longjmp(before, 1);
}

/* Deeper in the stack than all other calls: those would look like calls of this one. */
static __attribute__((noinline)) int deep_down(MPI_Comm jumping, int depth)
{
	volatile char room[256] = {0};

	if (depth)
		return deep_down(jumping, depth - 1) + room[depth];
	return MPI_Send(&sent, 1, MPI_INT, 99, 1, jumping);
}

/* An error handler leaves a call of each step by a jump. */
static void jump(int steps)
{
	MPI_Errhandler handler;
	MPI_Comm jumping;

	MPI_Comm_dup(comm, &jumping);
	MPI_Comm_create_errhandler(leave, &handler);
	MPI_Comm_set_errhandler(jumping, handler);
	MPI_Errhandler_free(&handler);
	for (volatile int step = 0; step < steps; step++) {
		work();
		pass_on(step);
		if (!setjmp(before))
			deep_down(jumping, 3);
	}
	if (!setjmp(before)) /* and the last one before the end */
		deep_down(jumping, 3);
}

static void session(int steps)
{
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
	MPI_Session one;
	MPI_Group all;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one);
	MPI_Group_from_session_pset(one, "mpi://WORLD", &all);
	MPI_Comm_create_from_group(all, "skelgen", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&all);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	for (int step = 0; step < steps; step++) {
		work();
		pass_on(step);
	}
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&one);
#else
	(void)steps;
#endif
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int steps);
	} ways[] = {
		{"persistent", persistent}, {"window", window}, {"pcontrol", pcontrol},
		{"group", group},           {"jump", jump},
	};
	int steps = argc > 1 ? atoi(argv[1]) : 10;
	const char *way = argc > 2 ? argv[2] : "";

	if (strcmp(way, "session") == 0) {
		session(steps);
		return 0;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(way, ways[i].name) == 0)
			ways[i].run(steps);
	MPI_Finalize();
	return 0;
}
