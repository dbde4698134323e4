/* Sequential reading and writing of 4 KiB to 128 MiB, by some cores of a host at a time. */
#include "measure.h"

#include <math.h>

enum {
	WORDS = 8, /* of a line of the cache, and at a time */
	SMALLEST = 4096,
	OCTAVE = 3,  /* sizes before they double */
	BLOCK = 512, /* lines of the cache that a size is made of, together [bytes] */
	MOST_PASSES = 1 << 20,
};

/* The size of the 2010 paper, which is measured whatever the budget [bytes]. */
static const size_t PAPER_BYTES = (size_t)16 << 20;

/* A pass may not take less, or the clock counts [s]. */
static const double SHORTEST_S = 20e-6;

static volatile uint64_t memory_result;

/* Each pass takes a number and returns one, so that none can be left out or done once for all. */
typedef uint64_t (*pass)(uint64_t *words, size_t count, uint64_t number);

static uint64_t read_words(uint64_t *words, size_t count, uint64_t number)
{
	uint64_t a = number, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;

	for (const uint64_t *at = words; at < words + count; at += WORDS) {
		a += at[0];
		b += at[1];
		c += at[2];
		d += at[3];
		e += at[4];
		f += at[5];
		g += at[6];
		h += at[7];
	}
	return a + b + c + d + e + f + g + h;
}

static uint64_t write_words(uint64_t *words, size_t count, uint64_t number)
{
	for (uint64_t *at = words; at < words + count; at += WORDS) {
		at[0] = number;
		at[1] = number;
		at[2] = number;
		at[3] = number;
		at[4] = number;
		at[5] = number;
		at[6] = number;
		at[7] = number;
	}
	return number + words[count / 2];
}

static const struct {
	const char *name;
	pass run;
} OPERATIONS[] = {{"read", read_words}, {"write", write_words}};

enum { KINDS = sizeof(OPERATIONS) / sizeof(OPERATIONS[0]) };

/* What is measured of a size: how often it is passed for a time, and its rates [bytes/s]. */
struct size {
	size_t bytes;
	long passes[KINDS];
	double rates[KINDS][REPEATS];
};

static double time_of(int kind, char *buffer, size_t bytes, long passes)
{
	uint64_t number = memory_result;
	double begin_s = now_s();

	for (long i = 0; i < passes; i++)
		number = OPERATIONS[kind].run((uint64_t *)buffer, bytes / sizeof(uint64_t), number);
	memory_result = number;
	return now_s() - begin_s;
}

/* Powers of two and two sizes between each of them; return how many. */
int memory_sizes(size_t sizes[MOST_SIZES], size_t most)
{
	int count = 0;

	for (; count < MOST_SIZES; count++) {
		double bytes = SMALLEST * pow(2.0, (double)count / OCTAVE);

		sizes[count] = (size_t)(bytes / BLOCK + 0.5) * BLOCK;
		if (sizes[count] > most)
			break;
	}
	return count;
}

/* How many passes take the time, from a first one; return what one takes [s]. */
static double choose_passes(struct size *size, int kind, char *buffer, double wanted_s)
{
	long passes = 1;
	double took_s;

	time_of(kind, buffer, size->bytes, 1);
	while ((took_s = time_of(kind, buffer, size->bytes, passes)) < SHORTEST_S)
		passes *= 2;
	size->passes[kind] = clamped(wanted_s / took_s * (double)passes, 1, MOST_PASSES);
	return took_s / (double)passes;
}

/* How many of the sizes fit into the time, as the first core finds it. */
static int plan(MPI_Comm comm, struct size *sizes, size_t most, char *buffer, double budget_s)
{
	size_t bytes[MOST_SIZES];
	int count = memory_sizes(bytes, most), chosen = 0, goes_on = 1;
	double wanted_s = budget_s / (count * KINDS * (REPEATS + 2)), planned_s = 0;
	double end_s = now_s() + budget_s;

	while (goes_on && chosen < count) {
		struct size *size = &sizes[chosen];

		size->bytes = bytes[chosen];
		for (int kind = 0; kind < KINDS; kind++) {
			double once_s = choose_passes(size, kind, buffer, wanted_s);

			planned_s += once_s * (double)(size->passes[kind] * REPEATS + 2);
		}
		goes_on = size->bytes <= PAPER_BYTES || (planned_s < budget_s && now_s() < end_s);
		MPI_Bcast(&goes_on, 1, MPI_INT, 0, comm);
		chosen += goes_on;
	}
	return chosen;
}

static void measure_size(MPI_Comm comm, struct size *size, char *buffer, int repeat, int cores)
{
	for (int kind = 0; kind < KINDS; kind++) {
		double bytes = (double)size->bytes * (double)size->passes[kind], took_s;

		MPI_Barrier(comm);
		took_s = time_of(kind, buffer, size->bytes, size->passes[kind]);
		size->rates[kind][repeat] = bytes / took_s / cores;
	}
}

static void tell(const struct size *size, const char *host, int cores, int repeats, double waited,
		 struct text *text)
{
	for (int kind = 0; kind < KINDS; kind++) {
		add(text, "{\"system\": \"memory\", ");
		add_word(text, "host", host);
		add(text, ", \"operation\": \"%s\", \"cores\": %d, ", OPERATIONS[kind].name, cores);
		add(text, "\"bytes\": %zu, ", size->bytes);
		add_values(text, size->rates[kind], repeats);
		add(text, ", \"queued\": %.6g}\n", waited);
	}
}

/* Sum the rates of all cores; each core has divided its own by their number. */
static void join(MPI_Comm comm, struct size *size)
{
	double *mine = &size->rates[0][0], sums[KINDS * REPEATS];

	MPI_Reduce(mine, sums, KINDS * REPEATS, MPI_DOUBLE, MPI_SUM, 0, comm);
	for (int i = 0; i < KINDS * REPEATS; i++)
		mine[i] = sums[i];
}

/* The mean over the cores of each rate; the first core tells. */
void measure_memory(MPI_Comm comm, const char *host, double budget_s, char *buffer, size_t most,
		    struct text *text)
{
	static struct size sizes[MOST_SIZES];
	struct waiting since = waiting_begins();
	double end_s = now_s() + PATIENCE * budget_s, waited, longest;
	int rank, cores, count, repeats = 0;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &cores);
	count = plan(comm, sizes, most, buffer, budget_s);
	/* A disturbance hits one repeat of many sizes, not all repeats of one. */
	for (; another(comm, repeats, end_s); repeats++)
		for (int i = 0; i < count; i++)
			measure_size(comm, &sizes[i], buffer, repeats, cores);
	waited = waiting_share(since);
	MPI_Reduce(&waited, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
	for (int i = 0; i < count; i++) {
		join(comm, &sizes[i]);
		if (!rank)
			tell(&sizes[i], host, cores, repeats, longest, text);
	}
}
