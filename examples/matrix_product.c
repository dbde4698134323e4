/*
 * matrix_product: C = A * B by a master and workers, in four kernels.
 *
 * Rank 0 has the matrices. It broadcasts B row by row, sends each worker its rows of A, and
 * gets the rows of C back; rows go to the workers in turn. The workers multiply. So it takes
 * two ranks at least, and the time of a step is about
 *
 *     c n^3 / (ranks - 1) + (2 + ceil(log2(ranks))) SR(8 n^2)
 *
 * where rows that follow each other take as long as one message SR of all. Any of the kernels run
 * alone, in pairs or in longer chains: those that are named, in that order.
 *
 *     mpirun -n 4 matrix_product [size] [steps] [kernel ...]
 *     mpirun -n 4 matrix_product 400 10 scatter multiply
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 }; /* kernels of a chain */

struct product {
	int n, rank, workers;
	double *a, *b, *c; /* of the master all rows of A and C, of a worker its own */
};

/* Rank that a row belongs to, and which of its rows it is. */
static int owner(const struct product *p, int row)
{
	return 1 + row % p->workers;
}

static double *row_of(const struct product *p, double *matrix, int row)
{
	return &matrix[(size_t)(p->rank ? row / p->workers : row) * (size_t)p->n];
}

static void broadcast(struct product *p)
{
	for (int row = 0; row < p->n; row++)
		MPI_Bcast(&p->b[(size_t)row * (size_t)p->n], p->n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void scatter(struct product *p)
{
	for (int row = 0; row < p->n; row++) {
		if (p->rank == 0)
			MPI_Send(row_of(p, p->a, row), p->n, MPI_DOUBLE, owner(p, row), 0,
				 MPI_COMM_WORLD);
		else if (p->rank == owner(p, row))
			MPI_Recv(row_of(p, p->a, row), p->n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}
}

static void multiply(struct product *p)
{
	size_t n = (size_t)p->n;

	for (int row = p->rank - 1; p->rank && row < p->n; row += p->workers) {
		const double *a = row_of(p, p->a, row);
		double *c = row_of(p, p->c, row);
		memset(c, 0, n * sizeof(double));
		for (size_t k = 0; k < n; k++)
			for (size_t i = 0; i < n; i++)
				c[i] += a[k] * p->b[k * n + i];
	}
}

static void gather(struct product *p)
{
	for (int row = 0; row < p->n; row++) {
		if (p->rank == 0)
			MPI_Recv(row_of(p, p->c, row), p->n, MPI_DOUBLE, owner(p, row), 1,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else if (p->rank == owner(p, row))
			MPI_Send(row_of(p, p->c, row), p->n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
	}
}

static const struct kernel {
	const char *name;
	void (*run)(struct product *p);
} KERNELS[] = {
	{"broadcast", broadcast},
	{"scatter", scatter},
	{"multiply", multiply},
	{"gather", gather},
};

enum { ALL = sizeof(KERNELS) / sizeof(KERNELS[0]) };

static void stop(const char *what, const char *word)
{
	fprintf(stderr, "matrix_product: %s%s\n", what, word);
	MPI_Abort(MPI_COMM_WORLD, 2);
	exit(2);
}

static struct kernel kernel_of(const char *name)
{
	for (int i = 0; i < ALL; i++)
		if (!strcmp(KERNELS[i].name, name))
			return KERNELS[i];
	stop("there are broadcast, scatter, multiply and gather, but no kernel ", name);
	return KERNELS[0];
}

static struct product product_of(int n)
{
	struct product p = {.n = n};
	int ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	p.workers = ranks - 1;
	if (n < 1 || ranks < 2)
		stop("it takes a size of 1 and two ranks", " at least");
	size_t row = (size_t)n, all = row * row;
	size_t own = p.rank ? (row / (size_t)p.workers + 1) * row : all;
	p.a = calloc(own, sizeof(double));
	p.b = calloc(all, sizeof(double));
	p.c = calloc(own, sizeof(double));
	if (!p.a || !p.b || !p.c)
		stop("no memory for this size", "");
	for (size_t i = 0; i < own; i++)
		p.a[i] = 1e-3 * (double)(i % 7);
	for (size_t i = 0; i < all; i++)
		p.b[i] = 1e-3 * (double)(i % 5);
	return p;
}

int main(int argc, char **argv)
{
	struct kernel chain[MOST];
	int length = 0;

	MPI_Init(&argc, &argv);
	int n = argc > 1 ? atoi(argv[1]) : 400;
	int steps = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 3; i < argc && length < MOST; i++)
		chain[length++] = kernel_of(argv[i]);
	if (length == 0)
		for (; length < ALL; length++)
			chain[length] = KERNELS[length];
	struct product p = product_of(n);
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int step = 0; step < steps; step++)
		for (int i = 0; i < length; i++)
			chain[i].run(&p);
	MPI_Barrier(MPI_COMM_WORLD);
	double seconds = MPI_Wtime() - begin, sum = 0.0;
	for (size_t i = 0; p.rank == 0 && i < (size_t)n * (size_t)n; i++)
		sum += p.c[i];
	if (p.rank == 0)
		printf("matrix_product: %d of them, %d steps in %.6f s, sum %.9g\n", length, steps,
		       seconds, sum);
	free(p.a);
	free(p.b);
	free(p.c);
	MPI_Finalize();
	return 0;
}
