/* Times, the wait for a core, medians, and ranks that wait without taking a core. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FEWEST_REPEATS = 3 };

static const struct timespec NAP = {0, 1000000};

double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* How long a thread has waited for a core that others had; -1: the kernel does not say. */
double queued_s(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned long long ran_ns, queued_ns;
	int known;

	if (file == NULL)
		return -1.0;
	known = fscanf(file, "%llu %llu", &ran_ns, &queued_ns) == 2;
	fclose(file);
	return known ? (double)queued_ns * 1e-9 : -1.0;
}

struct waiting waiting_begins(void)
{
	return (struct waiting){now_s(), queued_s("/proc/self/schedstat")};
}

/* Share of the time since then in which this process waited for a core; -1: not known. */
double waiting_share(struct waiting since)
{
	double queued = queued_s("/proc/self/schedstat"), passed = now_s() - since.begin_s;

	if (queued < 0 || since.queued_s < 0 || passed <= 0)
		return -1.0;
	return (queued - since.queued_s) / passed;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(values[0]), ascending);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

long clamped(double number, long least, long most)
{
	if (!(number > (double)least))
		return least;
	return number < (double)most ? (long)number : most;
}

/* Whether to repeat once more: a busy machine must not take for ever. The first rank says it. */
int another(MPI_Comm comm, int repeats, double end_s)
{
	int wanted = repeats < FEWEST_REPEATS || (repeats < REPEATS && now_s() < end_s);

	MPI_Bcast(&wanted, 1, MPI_INT, 0, comm);
	return wanted;
}

/* A barrier that sleeps: who waits for long must not disturb what others measure. */
void sleep_until_all(MPI_Comm comm)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(comm, &request);
	for (;;) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		nanosleep(&NAP, NULL);
	}
}
