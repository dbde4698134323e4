/* Times of kernels that need different parts of a core, for core_sharing.py. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NUMBERS = 4096, DOUBLES = 1024 };

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#include "arithmetic.c" /* what skeletons have */

/* The same without integers. */
static void chains(long steps)
{
	double a = sink, b = a + 0.25, c = a + 0.5, d = a + 0.75;

	for (long i = 0; i < steps; i++) {
		a = a * 0.5 + 1.0;
		b = b * 0.5 + 2.0;
		c = c * 0.5 + 3.0;
		d = d * 0.5 + 4.0;
	}
	sink = (a + b + c + d) * 0.0625;
}

static int ascending(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Branches that cannot be foreseen, in the nearest cache. */
static void sorting(long steps)
{
	static int numbers[NUMBERS];
	static uint64_t random = 88172645463325252u;

	for (long i = 0; i < steps; i++) {
		for (int k = 0; k < NUMBERS; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			numbers[k] = (int)random;
		}
		qsort(numbers, NUMBERS, sizeof(numbers[0]), ascending);
	}
	sink = numbers[0] & 1;
}

/* All that a core can load and store in the nearest cache. */
static void updating(long steps)
{
	static double doubles[DOUBLES];

	for (long i = 0; i < steps; i++)
		for (int k = 0; k < DOUBLES; k += 8) {
			double *line = doubles + k;

			line[0] = line[0] * 0.5 + 1.0;
			line[1] = line[1] * 0.5 + 1.0;
			line[2] = line[2] * 0.5 + 1.0;
			line[3] = line[3] * 0.5 + 1.0;
			line[4] = line[4] * 0.5 + 1.0;
			line[5] = line[5] * 0.5 + 1.0;
			line[6] = line[6] * 0.5 + 1.0;
			line[7] = line[7] * 0.5 + 1.0;
		}
	sink = doubles[0];
}

static const struct {
	void (*run)(long);
	long steps;
} kernels[] = {{chains, 1000000}, {arithmetic, 1000000}, {sorting, 10}, {updating, 6000}};

enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

/* Prints the mean time of each [s], over some seconds. */
int main(int count, char **words)
{
	double sums[KERNELS] = {0}, until = now() + (count > 1 ? atof(words[1]) : 1);
	int rounds = 0;

	for (; rounds == 0 || now() < until; rounds++)
		for (int i = 0; i < KERNELS; i++) {
			double begin = now();

			kernels[i].run(kernels[i].steps);
			sums[i] += now() - begin;
		}
	for (int i = 0; i < KERNELS; i++)
		printf("%.9f%s", sums[i] / rounds, i + 1 < KERNELS ? " " : "\n");
	return 0;
}
