/*
 * kinds: computation of one known kind, with an MPI_Allreduce about every 10 ms.
 *
 *     mpirun -n 1 kinds matrix|triad|stencil|chasing [iterations] [MiB of the walk]
 *
 * matrix product in the caches; a triad of 96 MiB; a stencil over 2 x 32 MiB; a random walk
 * through 12 MiB, or as said.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 192, TRIAD = 4 << 20, GRID = 2048, WALK = 400000 };

static double *a, *b, *c;
static uint32_t *next, at;

static void *memory(size_t bytes)
{
	void *block = malloc(bytes);

	if (block == NULL) {
		fprintf(stderr, "kinds: no memory\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return block;
}

static void doubles(size_t count)
{
	double **arrays[] = {&a, &b, &c};

	for (int k = 0; k < 3; k++) {
		*arrays[k] = memory(count * sizeof(double));
		for (size_t i = 0; i < count; i++)
			(*arrays[k])[i] = 1.0 + 1e-9 * (double)i;
	}
}

static void matrix(void)
{
	for (int i = 0; i < SIDE; i++)
		for (int k = 0; k < SIDE; k++)
			for (int j = 0; j < SIDE; j++)
				a[i * SIDE + j] += b[i * SIDE + k] * c[k * SIDE + j];
}

static void triad(void)
{
	for (int i = 0; i < TRIAD; i++)
		a[i] = b[i] + 0.5 * c[i];
}

static void stencil(void)
{
	double *swap = a;

	for (int i = GRID; i < GRID * (GRID - 1); i++)
		b[i] = 0.25 * (a[i - 1] + a[i + 1] + a[i - GRID] + a[i + GRID]);
	a = b;
	b = swap;
}

static void chasing(void)
{
	for (int i = 0; i < WALK; i++)
		at = next[at * 16];
}

/* One cycle through all cache lines (Sattolo). */
static void shuffle(uint32_t hops)
{
	uint64_t random = 1;

	next = memory((size_t)hops * 64);
	for (uint32_t i = 0; i < hops; i++)
		next[i * 16] = i;
	for (uint32_t i = hops - 1; i > 0; i--) {
		uint32_t k, swap = next[i * 16];

		random = random * 6364136223846793005u + 1442695040888963407u;
		k = (uint32_t)((random >> 33) % i);
		next[i * 16] = next[k * 16];
		next[k * 16] = swap;
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "triad";
	long iterations = argc > 2 ? atol(argv[2]) : 500;
	void (*work)(void) = triad;
	double sum = 0, part;

	MPI_Init(&argc, &argv);
	if (strcmp(kind, "chasing") == 0) {
		work = chasing;
		shuffle((argc > 3 ? (uint32_t)atol(argv[3]) : 12) << 14);
	} else if (strcmp(kind, "matrix") == 0) {
		work = matrix;
		doubles((size_t)SIDE * SIDE);
	} else if (strcmp(kind, "stencil") == 0) {
		work = stencil;
		doubles((size_t)GRID * GRID);
	} else {
		doubles(TRIAD);
	}
	for (long i = 0; i < iterations; i++) {
		work();
		part = a == NULL ? (double)at : a[0];
		MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	printf("%s: %g\n", kind, sum);
	MPI_Finalize();
	return 0;
}
