/* Asks for its CPU time in all ways that are counted, and in some that are not. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>

static void ask(int who, int often)
{
	struct rusage usage;

	for (int i = 0; i < often; i++)
		getrusage(who, &usage);
}

/* Runs inside MPI. */
static void sum(void *in, void *inout, int *length, MPI_Datatype *type)
{
	(void)type;
	ask(RUSAGE_SELF, 1000);
	for (int i = 0; i < *length; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

/* What the recorder hands back is what the system says. */
static int answers(void)
{
	struct rusage usage;
	struct tms tms;
	clock_t before = clock();
	long user_us;

	for (volatile long i = 0; i < 30000000; i++)
		;
	memset(&usage, 0xff, sizeof(usage));
	memset(&tms, 0xff, sizeof(tms));
	if (getrusage(RUSAGE_SELF, &usage) || times(&tms) == (clock_t)-1)
		return 0;
	user_us = usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec;
	errno = 0;
	return clock() > before && user_us > 0 && tms.tms_cutime >= 0 && usage.ru_maxrss > 0 &&
	       getrusage(12345, &usage) == -1 && errno == EINVAL;
}

int main(int argc, char **argv)
{
	int rank;
	int one = 1;
	int all;
	MPI_Op op;

	ask(RUSAGE_SELF, 5); /* before and behind the run nobody counts */
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	ask(RUSAGE_SELF, 100 * (rank + 1));
	ask(RUSAGE_THREAD, 1000); /* what Linux has noted already */
	ask(RUSAGE_CHILDREN, 1000);
	printf("%s\n", answers() ? "answered" : "wrong"); /* 4 queries */
	MPI_Op_create(sum, 1, &op);
	MPI_Allreduce(&one, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
	MPI_Op_free(&op);
	MPI_Pcontrol(0);
	ask(RUSAGE_SELF, 1000);
	MPI_Pcontrol(1);
	MPI_Finalize();
	ask(RUSAGE_SELF, 3);
	return 0;
}
