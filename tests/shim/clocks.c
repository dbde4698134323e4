/* Messages there and back, computation and sleep; the second argument says how long [ms]. */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* What MPI_Comm_dup() calls to copy an attribute. */
static int copy_slowly(MPI_Comm comm, int keyval, void *ms, void *in, void *out, int *copied)
{
	(void)comm, (void)keyval, (void)in, (void)out;
	sleep_ms(*(long *)ms);
	*copied = 0;
	return MPI_SUCCESS;
}

/* Be without a core, for a while between calls and for ten times as long in them. */
static void sleep_in_calls(long ms)
{
	long inside_ms = 10 * ms;
	MPI_Comm comm, copy;
	int keyval;

	MPI_Comm_create_keyval(copy_slowly, MPI_COMM_NULL_DELETE_FN, &keyval, &inside_ms);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_set_attr(comm, keyval, &inside_ms);
	for (int i = 0; i < 20; i++) {
		sleep_ms(ms);
		MPI_Comm_dup(comm, &copy);
		MPI_Comm_free(&copy);
	}
	MPI_Comm_free(&comm);
	MPI_Comm_free_keyval(&keyval);
}

/* Write a file that a device must have before the program goes on; 77: there is none. */
static int write_files(const char *path)
{
	static char block[1 << 20] __attribute__((aligned(4096)));
	int file = open(path, O_CREAT | O_WRONLY | O_DIRECT, 0600);
	struct rusage used;

	for (int i = 0; i < 20; i++) {
		if (file < 0 || pwrite(file, block, sizeof(block), 0) < 0 || fsync(file))
			MPI_Abort(MPI_COMM_WORLD, 77);
		MPI_Barrier(MPI_COMM_SELF);
	}
	getrusage(RUSAGE_SELF, &used);
	MPI_Finalize();
	return used.ru_oublock ? 0 : 77;
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
	for (int i = 0; i < 20 && !strcmp(argv[1], "naps"); i++) {
		sleep_ms(ms);
		MPI_Barrier(MPI_COMM_SELF);
	}
	if (!strcmp(argv[1], "files"))
		return write_files(argv[2]);
	if (!strcmp(argv[1], "sleep"))
		sleep_in_calls(ms);
	MPI_Finalize();
	return 0;
}
