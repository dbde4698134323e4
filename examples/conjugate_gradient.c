/*
 * conjugate_gradient: solve A x = b with A sparse, symmetric and cut into a grid of blocks.
 *
 * A rank holds one block of A. A product sums the parts of a row of blocks over the row's
 * communicator and collects the pieces of the result over the column's; dot products sum
 * over the column's. Every outer step solves once more with another right-hand side.
 *
 *     mpirun -n 4 conjugate_gradient [unknowns] [outer steps] [iterations of a solve]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BAND = 12 }; /* entries of a row: the diagonal and this many on either side */

struct problem {
	int n, first_row, rows, first_column, columns;
	int stride; /* distance of neighbouring entries in a row */
	MPI_Comm row, column;
	double *part, *piece;
	int *counts, *offsets; /* rows of each rank of the column's communicator */
};

/* Entry (i, j) of A: diagonally dominant, so the solve converges. */
static double entry(int i, int j)
{
	return i == j ? 2.0 * BAND + 1.0 : -1.0 / (1.0 + 0.01 * abs(i - j));
}

static void multiply_block(struct problem *p, const double *x)
{
	int last = p->first_column + p->columns;

	for (int i = 0; i < p->rows; i++) {
		int row = p->first_row + i;
		double sum = 0.0;
		for (int k = -BAND; k <= BAND; k++) {
			int j = row + k * p->stride;
			if (j >= p->first_column && j < last)
				sum += entry(row, j) * x[j];
		}
		p->part[i] = sum;
	}
}

static void multiply(struct problem *p, const double *x, double *y)
{
	multiply_block(p, x);
	MPI_Allreduce(p->part, p->piece, p->rows, MPI_DOUBLE, MPI_SUM, p->row);
	MPI_Allgatherv(p->piece, p->rows, MPI_DOUBLE, y, p->counts, p->offsets, MPI_DOUBLE,
		       p->column);
}

static double dot(const struct problem *p, const double *x, const double *y)
{
	double sum = 0.0, total;

	for (int i = p->first_row; i < p->first_row + p->rows; i++)
		sum += x[i] * y[i];
	MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, p->column);
	return total;
}

static double solve(struct problem *p, int iterations, double *x, double *r, double *d, double *q)
{
	double rho;

	for (int i = 0; i < p->n; i++) {
		d[i] = r[i];
		x[i] = 0.0;
	}
	rho = dot(p, r, r);
	for (int k = 0; k < iterations; k++) {
		multiply(p, d, q);
		double alpha = rho / dot(p, d, q);
		for (int i = 0; i < p->n; i++) {
			x[i] += alpha * d[i];
			r[i] -= alpha * q[i];
		}
		double next = dot(p, r, r);
		for (int i = 0; i < p->n; i++)
			d[i] = r[i] + next / rho * d[i];
		rho = next;
		if (rho < 1e-290)
			break;
	}
	return sqrt(rho);
}

static int begin_of(int n, int parts, int part)
{
	return (int)((long)n * part / parts);
}

static void cut(struct problem *p)
{
	int ranks, rank, dims[2] = {0, 0};

	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Dims_create(ranks, 2, dims);
	int i = rank / dims[1], j = rank % dims[1];
	MPI_Comm_split(MPI_COMM_WORLD, i, j, &p->row);
	MPI_Comm_split(MPI_COMM_WORLD, j, i, &p->column);
	p->first_row = begin_of(p->n, dims[0], i);
	p->rows = begin_of(p->n, dims[0], i + 1) - p->first_row;
	p->first_column = begin_of(p->n, dims[1], j);
	p->columns = begin_of(p->n, dims[1], j + 1) - p->first_column;
	p->stride = p->n / (4 * BAND);
	p->part = calloc((size_t)p->rows, sizeof(double));
	p->piece = calloc((size_t)p->rows, sizeof(double));
	p->counts = calloc((size_t)dims[0], sizeof(int));
	p->offsets = calloc((size_t)dims[0], sizeof(int));
	for (int k = 0; k < dims[0]; k++) {
		p->offsets[k] = begin_of(p->n, dims[0], k);
		p->counts[k] = begin_of(p->n, dims[0], k + 1) - p->offsets[k];
	}
}

int main(int argc, char **argv)
{
	struct problem p = {0};
	int rank;

	MPI_Init(&argc, &argv);
	p.n = argc > 1 ? atoi(argv[1]) : 60000;
	int steps = argc > 2 ? atoi(argv[2]) : 10;
	int iterations = argc > 3 ? atoi(argv[3]) : 25;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	cut(&p);
	double *vectors[4];
	for (int k = 0; k < 4; k++)
		vectors[k] = calloc((size_t)p.n, sizeof(double));
	double residual = 0.0, shift = 0.0;
	for (int step = 0; step < steps; step++) {
		for (int i = 0; i < p.n; i++)
			vectors[1][i] = 1.0 + shift * (i % 7);
		residual = solve(&p, iterations, vectors[0], vectors[1], vectors[2], vectors[3]);
		shift = dot(&p, vectors[0], vectors[0]) / p.n;
	}
	if (rank == 0)
		printf("conjugate_gradient: residual %.6g, shift %.12g\n", residual, shift);
	for (int k = 0; k < 4; k++)
		free(vectors[k]);
	free(p.part);
	free(p.piece);
	free(p.counts);
	free(p.offsets);
	MPI_Comm_free(&p.row);
	MPI_Comm_free(&p.column);
	MPI_Finalize();
	return 0;
}
