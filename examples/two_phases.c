/*
 * two_phases: the synthetic application of Martinez Canillas 2011, section 6.4.1.
 *
 * Two sequences of phases, one after the other. A phase of the first passes a message
 * around a ring and goes through a vector once, O(n); one of the second swaps messages
 * with the partner across a butterfly and compares all pairs of elements, O(n^2).
 *
 *     mpirun -n 4 two_phases [length of the vector] [iterations] [passes over the vector]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGE = 128 }; /* doubles */

struct ranks {
	int rank, size;
	double out[MESSAGE], in[MESSAGE];
};

static void around_the_ring(struct ranks *r)
{
	int next = (r->rank + 1) % r->size, previous = (r->rank + r->size - 1) % r->size;

	MPI_Sendrecv(r->out, MESSAGE, MPI_DOUBLE, next, 0, r->in, MESSAGE, MPI_DOUBLE, previous, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void across_the_butterfly(struct ranks *r)
{
	for (int distance = 1; distance < r->size; distance *= 2) {
		MPI_Request request[2];
		MPI_Status status[2];
		int partner = r->rank ^ distance;

		if (partner >= r->size)
			continue;
		MPI_Irecv(r->in, MESSAGE, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &request[0]);
		MPI_Isend(r->out, MESSAGE, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &request[1]);
		MPI_Waitall(2, request, status);
	}
}

static double once(double *v, int n, int passes)
{
	double sum = 0.0;

	for (int pass = 0; pass < passes; pass++) {
		for (int i = 0; i < n; i++) {
			v[i] = 0.999 * v[i] + 0.001;
			sum += v[i];
		}
	}
	return sum;
}

static double all_pairs(const double *v, int n)
{
	double sum = 0.0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			sum += v[i] > v[j] ? v[i] : v[j];
	return sum;
}

int main(int argc, char **argv)
{
	struct ranks r = {0};
	double sum = 0.0, total;

	MPI_Init(&argc, &argv);
	int n = argc > 1 ? atoi(argv[1]) : 2000;
	int iterations = argc > 2 ? atoi(argv[2]) : 100;
	int passes = argc > 3 ? atoi(argv[3]) : 100;
	MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &r.size);
	double *v = malloc((size_t)n * sizeof(double));
	if (!v)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < n; i++)
		v[i] = (i * 7919 % n) / (double)n;

	for (int i = 0; i < iterations; i++) {
		around_the_ring(&r);
		sum += once(v, n, passes);
	}
	for (int i = 0; i < iterations; i++) {
		across_the_butterfly(&r);
		sum += all_pairs(v, n);
	}
	MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (r.rank == 0)
		printf("two_phases: n = %d, %d iterations, sum %.12g\n", n, iterations, total);
	free(v);
	MPI_Finalize();
	return 0;
}
