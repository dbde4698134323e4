/* Messages there and back, and computation; the first argument says for how long [ms]. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Each rank exchanges messages with the one half the ranks further. */
static void exchange(int rank, int size, int rounds)
{
	int other = (rank + size / 2) % size;
	int number = 0;

	for (int i = 0; i < rounds; i++) {
		if (rank < other)
			MPI_Send(&number, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
		MPI_Recv(&number, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank > other)
			MPI_Send(&number, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
	}
}

/* Spend CPU time, not wall time: beside another process it takes longer. */
static void compute(long ms)
{
	long until = now_ms(CLOCK_PROCESS_CPUTIME_ID) + ms;

	while (now_ms(CLOCK_PROCESS_CPUTIME_ID) < until)
		;
}

int main(int argc, char **argv)
{
	long ms = argc > 2 ? atol(argv[2]) : 0;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(argv[1], "exchange"))
		for (long end = now_ms(CLOCK_REALTIME) + ms, more = 1; more;) {
			exchange(rank, size, 20);
			compute(2);
			more = now_ms(CLOCK_REALTIME) < end;
			MPI_Bcast(&more, 1, MPI_LONG, 0, MPI_COMM_WORLD);
		}
	for (int i = 0; i < 20 && !strcmp(argv[1], "compute"); i++) {
		compute(ms);
		MPI_Barrier(MPI_COMM_SELF);
	}
	MPI_Finalize();
	return 0;
}
