/*
 * wavefront: sweep a 3-D grid from its four corners, one plane after another.
 *
 * Ranks form a 2-D grid. A rank waits for its western and northern faces of a block of
 * planes, computes the block, and sends its eastern and southern faces on (blocking), so
 * the sweep runs through the machine as a pipeline; then from the next corner.
 *
 *     mpirun -n 4 wavefront [cells per side] [sweeps] [planes of a block]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct part {
	int nx, ny, nz;
	double *flux, *east_west, *north_south;
};

static void sweep_block(struct part *p, int first, int planes, int dx, int dy)
{
	for (int k = first; k < first + planes; k++) {
		for (int j = 0; j < p->ny; j++) {
			int row = dy > 0 ? j : p->ny - 1 - j;
			double *west =
				&p->east_west[(size_t)(k - first) * (size_t)p->ny + (size_t)row];
			for (int i = 0; i < p->nx; i++) {
				int column = dx > 0 ? i : p->nx - 1 - i;
				double *north =
					&p->north_south[(size_t)(k - first) * (size_t)p->nx +
							(size_t)column];
				size_t cell =
					((size_t)k * (size_t)p->ny + (size_t)row) * (size_t)p->nx +
					(size_t)column;
				double value = (p->flux[cell] + 0.5 * *west + 0.3 * *north) / 1.9;
				p->flux[cell] = value;
				*west = value;
				*north = value;
			}
		}
	}
}

static void sweep(struct part *p, int block, int dx, int dy, MPI_Comm grid)
{
	int west, east, north, south;

	MPI_Cart_shift(grid, 1, dx, &west, &east);
	MPI_Cart_shift(grid, 0, dy, &north, &south);
	for (int first = 0; first < p->nz; first += block) {
		int planes = first + block <= p->nz ? block : p->nz - first;
		int we = planes * p->ny, ns = planes * p->nx;
		for (int i = 0; i < we; i++)
			p->east_west[i] = 1.0;
		for (int i = 0; i < ns; i++)
			p->north_south[i] = 1.0;
		if (west != MPI_PROC_NULL)
			MPI_Recv(p->east_west, we, MPI_DOUBLE, west, 0, grid, MPI_STATUS_IGNORE);
		if (north != MPI_PROC_NULL)
			MPI_Recv(p->north_south, ns, MPI_DOUBLE, north, 1, grid, MPI_STATUS_IGNORE);
		sweep_block(p, first, planes, dx, dy);
		if (east != MPI_PROC_NULL)
			MPI_Send(p->east_west, we, MPI_DOUBLE, east, 0, grid);
		if (south != MPI_PROC_NULL)
			MPI_Send(p->north_south, ns, MPI_DOUBLE, south, 1, grid);
	}
}

int main(int argc, char **argv)
{
	int ranks, rank, dims[2] = {0, 0}, periods[2] = {0, 0};
	MPI_Comm grid;

	MPI_Init(&argc, &argv);
	int cells = argc > 1 ? atoi(argv[1]) : 128;
	int sweeps = argc > 2 ? atoi(argv[2]) : 40;
	int block = argc > 3 ? atoi(argv[3]) : 8;
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Dims_create(ranks, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Comm_rank(grid, &rank);
	struct part p = {cells / dims[1], cells / dims[0], cells, NULL, NULL, NULL};
	p.flux = calloc((size_t)p.nx * (size_t)p.ny * (size_t)p.nz, sizeof(double));
	p.east_west = calloc((size_t)block * (size_t)p.ny, sizeof(double));
	p.north_south = calloc((size_t)block * (size_t)p.nx, sizeof(double));
	if (!p.flux || !p.east_west || !p.north_south)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int s = 0; s < sweeps; s++)
		sweep(&p, block, s % 2 ? -1 : 1, s / 2 % 2 ? -1 : 1, grid);
	double sum = 0.0, total;
	for (size_t c = 0; c < (size_t)p.nx * (size_t)p.ny * (size_t)p.nz; c++)
		sum += p.flux[c];
	MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
	if (rank == 0)
		printf("wavefront: %d sweeps, mean flux %.12g\n", sweeps,
		       total / cells / cells / cells);
	free(p.flux);
	free(p.east_west);
	free(p.north_south);
	MPI_Comm_free(&grid);
	MPI_Finalize();
	return 0;
}
