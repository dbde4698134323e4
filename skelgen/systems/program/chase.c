/* Time of a dependent access to memory, over sizes: the sizes of the caches show in it. */
#include "measure.h"

enum { LINE = 64, FIRST_HOPS = 1 << 12, MOST_HOPS = 1 << 28 };

/* What must be measured whatever the budget [bytes]. */
static const size_t LEAST_BYTES = (size_t)4 << 20;

static void *volatile chase_result;

/* The place that a line names as the next one. */
static void **next_of(char *buffer, size_t line)
{
	return (void **)(void *)(buffer + LINE * line);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Make a random circle of lines longer: each new line goes behind a random one of those before.
 * All circles are equally likely, and what is cached of the shorter circle is of use.
 */
static void lengthen(char *buffer, size_t from, size_t to, uint64_t *state)
{
	if (!from)
		*next_of(buffer, from++) = buffer;
	for (size_t line = from; line < to; line++) {
		void **before = next_of(buffer, (size_t)(next_random(state) % line));

		*next_of(buffer, line) = *before;
		*before = next_of(buffer, line);
	}
}

/* Time of so many accesses, each to the place that the one before found, wherever that was [s]. */
static double time_of(long hops)
{
	double begin_s = now_s();
	void *at = chase_result;

	for (long i = 0; i < hops; i++)
		at = *(void **)at;
	chase_result = at;
	return now_s() - begin_s;
}

static void tell(const char *host, int cores, size_t bytes, const double *rates, int repeats,
		 double waited, struct text *text)
{
	add(text, "{\"system\": \"memory\", ");
	add_word(text, "host", host);
	add(text, ", \"operation\": \"chase\", \"cores\": %d, \"bytes\": %zu, ", cores, bytes);
	add_values(text, rates, repeats);
	add(text, ", \"queued\": %.6g}\n", waited);
}

/* Accesses a second, mean over the cores, for each repeat; return how many repeats there were. */
static int measure_size(MPI_Comm comm, size_t lines, double wanted_s, double rates[REPEATS])
{
	double mine[REPEATS], end_s = now_s() + 2 * REPEATS * wanted_s, took_s;
	int repeats = 0, cores;
	long hops;

	MPI_Comm_size(comm, &cores);
	time_of((long)lines); /* each line once, so that caches hold what they can */
	took_s = time_of(FIRST_HOPS);
	hops = clamped(wanted_s / took_s * FIRST_HOPS, FIRST_HOPS, MOST_HOPS);
	for (; another(comm, repeats, end_s); repeats++) {
		MPI_Barrier(comm);
		mine[repeats] = (double)hops / time_of(hops) / cores;
	}
	MPI_Reduce(mine, rates, repeats, MPI_DOUBLE, MPI_SUM, 0, comm);
	return repeats;
}

/* From the smallest size on as far as the time goes. */
void measure_chase(MPI_Comm comm, const char *host, double budget_s, char *buffer, size_t most,
		   struct text *text)
{
	size_t sizes[MOST_SIZES], lines = 0;
	int count = memory_sizes(sizes, most), rank, cores, goes_on = 1;
	double end_s = now_s() + budget_s;
	uint64_t state = 88172645463325252u;

	chase_result = buffer;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &cores);
	for (int i = 0; i < count && goes_on; i++) {
		struct waiting since = waiting_begins();
		double rates[REPEATS], waited, longest;
		int repeats;

		lengthen(buffer, lines, sizes[i] / LINE, &state);
		lines = sizes[i] / LINE;
		repeats = measure_size(comm, lines, budget_s / count / (2 * REPEATS), rates);
		waited = waiting_share(since);
		MPI_Reduce(&waited, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
		if (!rank)
			tell(host, cores, sizes[i], rates, repeats, longest, text);
		goes_on = sizes[i] < LEAST_BYTES || now_s() < end_s;
		MPI_Bcast(&goes_on, 1, MPI_INT, 0, comm);
	}
}
