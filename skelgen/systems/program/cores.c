/* Rates of arithmetic in registers, with 1, 2, ... all cores of a host at the same time. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	ALL_UP_TO = 8, /* beyond, powers of two and all cores */
	ADDS = 12,
	MULTIPLIES = 8,
	FLOATS = 12,
	FIRST_STEPS = 1 << 14,
	MOST_STEPS = 1 << 30,
};

static const size_t MOST_BYTES = (size_t)128 << 20, FEWEST_BYTES = (size_t)16 << 20;

/* Of the time for a number of cores. */
static const double RATES_SHARE = 0.2, MEMORY_SHARE = 0.5, CHASE_SHARE = 0.3;

/* What the compiler cannot know, and where results go that it must not leave out. */
static volatile uint64_t any_integer = 3, integer_result;
static volatile double any_factor = 0.999999, any_term = 1e-6, float_result;

/*
 * Pairs that add each other, as Fibonacci's numbers: no formula replaces the loop, and no step of
 * a pair can begin before the one before. Six pairs are more than cores add at a time.
 */
static void integer_add(long steps)
{
	uint64_t n = any_integer, a = n, b = n + 1, c = n + 2, d = n + 3, e = n + 4, f = n + 5;
	uint64_t g = n + 6, h = n + 7, i = n + 8, j = n + 9, k = n + 10, l = n + 11;

	for (; steps > 0; steps--) {
		a += b;
		c += d;
		e += f;
		g += h;
		i += j;
		k += l;
		b += a;
		d += c;
		f += e;
		h += g;
		j += i;
		l += k;
	}
	integer_result = a + b + c + d + e + f + g + h + i + j + k + l;
}

static void integer_multiply_add(long steps)
{
	uint64_t n = any_integer, times = 2 * n + 1, plus = n + 2;
	uint64_t a = n, b = n + 1, c = n + 2, d = n + 3, e = n + 4, f = n + 5, g = n + 6, h = n + 7;

	for (; steps > 0; steps--) {
		a = a * times + plus;
		b = b * times + plus;
		c = c * times + plus;
		d = d * times + plus;
		e = e * times + plus;
		f = f * times + plus;
		g = g * times + plus;
		h = h * times + plus;
	}
	integer_result = a + b + c + d + e + f + g + h;
}

/* Fused where the compiler does so for any program: it need not on x86-64. */
static void float_multiply_add(long steps)
{
	double times = any_factor, plus = any_term, n = plus;
	double a = n, b = 2 * n, c = 3 * n, d = 4 * n, e = 5 * n, f = 6 * n;
	double g = 7 * n, h = 8 * n, i = 9 * n, j = 10 * n, k = 11 * n, l = 12 * n;

	for (; steps > 0; steps--) {
		a = a * times + plus;
		b = b * times + plus;
		c = c * times + plus;
		d = d * times + plus;
		e = e * times + plus;
		f = f * times + plus;
		g = g * times + plus;
		h = h * times + plus;
		i = i * times + plus;
		j = j * times + plus;
		k = k * times + plus;
		l = l * times + plus;
	}
	float_result = a + b + c + d + e + f + g + h + i + j + k + l;
}

static const struct {
	const char *name;
	void (*run)(long steps);
	int operations;
} RATES[] = {
	{"integer_add", integer_add, ADDS},
	{"integer_multiply_add", integer_multiply_add, MULTIPLIES},
	{"float_multiply_add", float_multiply_add, FLOATS},
};

static double time_of(void (*run)(long), long steps)
{
	double begin_s = now_s();

	run(steps);
	return now_s() - begin_s;
}

/* Steps that take about so long. */
static long steps_taking(double wanted_s, void (*run)(long))
{
	long steps = FIRST_STEPS;
	double took_s;

	while ((took_s = time_of(run, steps)) < wanted_s / 4 && steps < MOST_STEPS / 4)
		steps *= 2;
	return clamped((double)steps * wanted_s / took_s, 1, MOST_STEPS);
}

/* Mean over the cores of a rate, for each repeat. */
static void measure_rate(MPI_Comm comm, double wanted_s, int which, double rates[REPEATS])
{
	long steps = steps_taking(wanted_s, RATES[which].run);
	double mine[REPEATS];
	int cores;

	MPI_Comm_size(comm, &cores);
	for (int repeat = 0; repeat < REPEATS; repeat++) {
		MPI_Barrier(comm);
		mine[repeat] = (double)RATES[which].operations * (double)steps /
			       time_of(RATES[which].run, steps) / cores;
	}
	MPI_Reduce(mine, rates, REPEATS, MPI_DOUBLE, MPI_SUM, 0, comm);
}

static void measure_rates(MPI_Comm comm, const char *host, double budget_s, struct text *text)
{
	int count = sizeof(RATES) / sizeof(RATES[0]), rank, cores;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &cores);
	for (int which = 0; which < count; which++) {
		struct waiting since = waiting_begins();
		double rates[REPEATS], waited, longest;

		measure_rate(comm, budget_s / count / (REPEATS + 2), which, rates);
		waited = waiting_share(since);
		MPI_Reduce(&waited, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
		if (rank)
			continue;
		add(text, "{\"system\": \"rate\", ");
		add_word(text, "host", host);
		add(text, ", \"name\": \"%s\", \"cores\": %d, ", RATES[which].name, cores);
		add_values(text, rates, REPEATS);
		add(text, ", \"queued\": %.6g}\n", longest);
	}
}

/* The next number of cores to try: each one up to eight, then twice as many, at last all. */
static int next_cores(int cores, int all)
{
	int next = cores < ALL_UP_TO ? cores + 1 : 2 * cores;

	return cores < all && next > all ? all : next;
}

/* Memory for the sweep: a quarter of what is free, shared by the ranks of the host. */
static char *memory_for(int ranks, size_t *bytes)
{
	size_t pages = (size_t)sysconf(_SC_AVPHYS_PAGES), page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = pages / 4 / (size_t)ranks * page;
	void *memory;

	for (*bytes = MOST_BYTES; *bytes > room && *bytes > FEWEST_BYTES; *bytes /= 2)
		;
	memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail("no memory to measure: expected 16 MiB for each rank");
#ifdef MADV_HUGEPAGE
	madvise(memory, *bytes, MADV_HUGEPAGE); /* caches, not tables of pages */
#endif
	memset(memory, 1, *bytes);
	return memory;
}

static void measure_step(const struct place *place, MPI_Comm comm, double budget_s, char *buffer,
			 size_t bytes, struct text *text)
{
	int cores;

	MPI_Comm_size(comm, &cores);
	measure_rates(comm, place->name, RATES_SHARE * budget_s, text);
	measure_memory(comm, place->name, MEMORY_SHARE * budget_s, buffer, bytes, text);
	/* Caches alone, and as all cores share them. */
	if (cores == 1 || cores == place->locals)
		measure_chase(comm, place->name, CHASE_SHARE * budget_s, buffer, bytes, text);
}

void measure_cores(const struct place *place, double budget_s, struct text *text)
{
	int steps = 0;
	size_t bytes;
	char *buffer = memory_for(place->locals, &bytes);

	for (int cores = 1; cores <= place->locals; cores = next_cores(cores, place->locals))
		steps++;
	budget_s /= steps;
	for (int cores = 1; cores <= place->locals; cores = next_cores(cores, place->locals)) {
		int works = place->local < cores;
		MPI_Comm comm;

		MPI_Comm_split(place->host, works ? 0 : MPI_UNDEFINED, place->local, &comm);
		if (works) {
			measure_step(place, comm, budget_s, buffer, bytes, text);
			MPI_Comm_free(&comm);
		}
		sleep_until_all(place->host);
	}
	munmap(buffer, bytes);
}
