/*
 * eigenvalues: all eigenvalues and eigenvectors of a symmetric matrix, by ScaLAPACK's
 * PDSYEV on a grid of ranks, in blocks that are dealt out in turn.
 *
 *     mpirun -n 2 eigenvalues [rows of the matrix]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 32, DESCRIBED = 9 };

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *block, const int *place, const int *first, const int *parts);
void descinit_(int *described, const int *rows, const int *columns, const int *high,
	       const int *wide, const int *first_row, const int *first_column, const int *context,
	       const int *leading, int *info);
void pdsyev_(const char *vectors, const char *half, const int *n, double *a, const int *ia,
	     const int *ja, const int *of_a, double *values, double *z, const int *iz,
	     const int *jz, const int *of_z, double *work, const int *size, int *info);

struct share {
	int rows, columns, row, column; /* the grid, and this rank's place in it */
	int high, wide;                 /* of its part of the matrix */
	int described[DESCRIBED];
};

/* The place in the whole matrix of the i-th row or column of a rank. */
static int whole(int i, int place, int parts)
{
	return (i / BLOCK * parts + place) * BLOCK + i % BLOCK;
}

static struct share deal(int n, int context)
{
	const int zero = 0, block = BLOCK;
	int info;
	struct share s;

	Cblacs_gridinfo(context, &s.rows, &s.columns, &s.row, &s.column);
	s.high = numroc_(&n, &block, &s.row, &zero, &s.rows);
	s.wide = numroc_(&n, &block, &s.column, &zero, &s.columns);
	int leading = s.high > 1 ? s.high : 1;
	descinit_(s.described, &n, &n, &block, &block, &zero, &zero, &context, &leading, &info);
	return s;
}

static void fill(const struct share *s, double *a)
{
	for (int j = 0; j < s->wide; j++) {
		for (int i = 0; i < s->high; i++) {
			int row = whole(i, s->row, s->rows);
			int column = whole(j, s->column, s->columns);
			a[(size_t)j * (size_t)s->high + (size_t)i] =
				1.0 / (1.0 + abs(row - column)) + (row == column ? row % 7 : 0);
		}
	}
}

/* Solve; return 0 when that went well. */
static int solve(const struct share *s, int n, double *a, double *z, double *values)
{
	const int one = 1, ask = -1;
	int info, size;
	double wanted;

	pdsyev_("V", "U", &n, a, &one, &one, s->described, values, z, &one, &one, s->described,
		&wanted, &ask, &info);
	size = (int)wanted + 1;
	double *work = malloc((size_t)size * sizeof(double));
	if (!work)
		return 1;
	pdsyev_("V", "U", &n, a, &one, &one, s->described, values, z, &one, &one, s->described,
		work, &size, &info);
	free(work);
	return info;
}

int main(int argc, char **argv)
{
	int rank, ranks, dims[2] = {0, 0}, context;

	MPI_Init(&argc, &argv);
	int n = argc > 1 ? atoi(argv[1]) : 600;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Dims_create(ranks, 2, dims);
	Cblacs_get(-1, 0, &context);
	Cblacs_gridinit(&context, "R", dims[0], dims[1]);
	struct share s = deal(n, context);
	size_t entries = (size_t)s.high * (size_t)s.wide;
	double *a = calloc(entries + 1, sizeof(double)), *z = calloc(entries + 1, sizeof(double));
	double *values = calloc((size_t)n + 1, sizeof(double));
	if (!a || !z || !values)
		MPI_Abort(MPI_COMM_WORLD, 1);
	fill(&s, a);
	if (solve(&s, n, a, z, values))
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (rank == 0)
		printf("eigenvalues from %.9g to %.9g\n", values[0], values[n > 0 ? n - 1 : 0]);
	free(a);
	free(z);
	free(values);
	Cblacs_gridexit(context);
	MPI_Finalize();
	return 0;
}
