/*
 * heat2d: Jacobi iteration of the heat equation on a grid cut into blocks.
 *
 * Each step exchanges four halos (nonblocking, columns as a derived datatype) and
 * relaxes the block; every tenth step all ranks agree on the largest change and stop
 * when it is small enough.
 *
 *     mpirun -n 4 heat2d [points per side of the whole grid] [largest number of steps]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NORTH, SOUTH, WEST, EAST, SIDES };

struct block {
	int rows, columns; /* without the halo */
	double *now, *next;
};

static size_t at(const struct block *b, int row, int column)
{
	return (size_t)row * (size_t)(b->columns + 2) + (size_t)column;
}

static void exchange(const struct block *b, const int neighbour[SIDES], MPI_Datatype column,
		     MPI_Comm grid)
{
	MPI_Request request[2 * SIDES];
	MPI_Status status[2 * SIDES];
	double *u = b->now;

	MPI_Irecv(&u[at(b, 0, 1)], b->columns, MPI_DOUBLE, neighbour[NORTH], 0, grid, &request[0]);
	MPI_Irecv(&u[at(b, b->rows + 1, 1)], b->columns, MPI_DOUBLE, neighbour[SOUTH], 1, grid,
		  &request[1]);
	MPI_Irecv(&u[at(b, 1, 0)], 1, column, neighbour[WEST], 2, grid, &request[2]);
	MPI_Irecv(&u[at(b, 1, b->columns + 1)], 1, column, neighbour[EAST], 3, grid, &request[3]);
	MPI_Isend(&u[at(b, b->rows, 1)], b->columns, MPI_DOUBLE, neighbour[SOUTH], 0, grid,
		  &request[4]);
	MPI_Isend(&u[at(b, 1, 1)], b->columns, MPI_DOUBLE, neighbour[NORTH], 1, grid, &request[5]);
	MPI_Isend(&u[at(b, 1, b->columns)], 1, column, neighbour[EAST], 2, grid, &request[6]);
	MPI_Isend(&u[at(b, 1, 1)], 1, column, neighbour[WEST], 3, grid, &request[7]);
	MPI_Waitall(2 * SIDES, request, status);
}

static double relax(const struct block *b)
{
	double change = 0.0;

	for (int i = 1; i <= b->rows; i++) {
		for (int j = 1; j <= b->columns; j++) {
			double value = 0.25 * (b->now[at(b, i - 1, j)] + b->now[at(b, i + 1, j)] +
					       b->now[at(b, i, j - 1)] + b->now[at(b, i, j + 1)]);
			change = fmax(change, fabs(value - b->now[at(b, i, j)]));
			b->next[at(b, i, j)] = value;
		}
	}
	return change;
}

int main(int argc, char **argv)
{
	int ranks, dims[2] = {0, 0}, periods[2] = {0, 0}, place[2], rank, neighbour[SIDES];
	MPI_Comm grid;
	MPI_Datatype column;

	MPI_Init(&argc, &argv);
	int points = argc > 1 ? atoi(argv[1]) : 1024;
	int steps = argc > 2 ? atoi(argv[2]) : 1000;
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Dims_create(ranks, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_coords(grid, rank, 2, place);
	MPI_Cart_shift(grid, 0, 1, &neighbour[NORTH], &neighbour[SOUTH]);
	MPI_Cart_shift(grid, 1, 1, &neighbour[WEST], &neighbour[EAST]);

	struct block b = {points / dims[0], points / dims[1], NULL, NULL};
	size_t cells = (size_t)(b.rows + 2) * (size_t)(b.columns + 2);
	b.now = calloc(cells, sizeof(double));
	b.next = calloc(cells, sizeof(double));
	if (!b.now || !b.next)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (place[0] == 0) /* the northern edge is hot */
		for (int j = 0; j < b.columns + 2; j++)
			b.now[at(&b, 0, j)] = b.next[at(&b, 0, j)] = 1.0;
	MPI_Type_vector(b.rows, 1, b.columns + 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);

	double largest = 1.0;
	int step = 0;
	while (step < steps && largest > 1e-9) {
		exchange(&b, neighbour, column, grid);
		double change = relax(&b);
		double *swap = b.now;
		b.now = b.next;
		b.next = swap;
		if (++step % 10 == 0)
			MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, grid);
	}
	double sum = 0.0, total;
	for (int i = 1; i <= b.rows; i++)
		for (int j = 1; j <= b.columns; j++)
			sum += b.now[at(&b, i, j)];
	MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
	if (rank == 0)
		printf("heat2d: %d steps, mean %.12g, last change %.6g\n", step,
		       total / points / points, largest);
	MPI_Type_free(&column);
	MPI_Comm_free(&grid);
	free(b.now);
	free(b.next);
	MPI_Finalize();
	return 0;
}
