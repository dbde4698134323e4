/*
 * kernels: seven kernels of an implicit solver in three dimensions, in a loop.
 *
 * Each step makes a right-hand side from the field and its neighbours, solves along x, y
 * and z, adds what that gives to the field and sums its square. Ranks hold slabs of the
 * grid, one above the other, so faces go to neighbours and solving along z is a pipeline.
 * Any of the kernels run alone, in pairs or in longer chains: those that are named, in
 * that order. What they leave stays of one size, however often each of them runs.
 *
 *     mpirun -n 2 kernels [points of an edge] [steps] [kernel ...]
 *     mpirun -n 2 kernels 96 100 x_solve y_solve
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, LANES = 16 }; /* kernels of a chain; rows that z_solve sends at once */

static const double COUPLED = 0.4; /* of neighbouring points along a line */

struct grid {
	int n;             /* points of an edge */
	int first, planes; /* of this rank, without the halo */
	int below, above;
	double *field, *right;
	double *factor; /* of an elimination, for each point of a line */
	double norm;
};

static size_t at(const struct grid *g, int z, int y, int x)
{
	return ((size_t)(z + 1) * (size_t)g->n + (size_t)y) * (size_t)g->n + (size_t)x;
}

/* Copy the outermost planes of the field into the halos of the neighbours. */
static void copy_faces(struct grid *g)
{
	int plane = g->n * g->n, top = g->planes - 1;
	double *u = g->field;

	MPI_Sendrecv(&u[at(g, top, 0, 0)], plane, MPI_DOUBLE, g->above, 0, &u[at(g, -1, 0, 0)],
		     plane, MPI_DOUBLE, g->below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&u[at(g, 0, 0, 0)], plane, MPI_DOUBLE, g->below, 1, &u[at(g, top + 1, 0, 0)],
		     plane, MPI_DOUBLE, g->above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What flows into a point from its six neighbours, which at the edges is nothing. */
static void right_side(struct grid *g)
{
	int n = g->n;
	size_t row = (size_t)n, plane = row * row;
	const double *u = g->field;

	for (int z = 0; z < g->planes; z++) {
		for (int y = 0; y < n; y++) {
			for (int x = 0; x < n; x++) {
				size_t i = at(g, z, y, x);
				double sum = g->first + z > 0 ? u[i - plane] : u[i];
				sum += g->first + z < n - 1 ? u[i + plane] : u[i];
				sum += y > 0 ? u[i - row] : u[i];
				sum += y < n - 1 ? u[i + row] : u[i];
				sum += x > 0 ? u[i - 1] : u[i];
				sum += x < n - 1 ? u[i + 1] : u[i];
				g->right[i] = 0.1 * (sum - 6.0 * u[i]) + 1e-3;
			}
		}
	}
}

/*
 * Factors of the elimination along a line of the whole grid. A column of its matrix adds
 * up to 1, so that solving keeps the sum of what it solves for.
 */
static void eliminate(struct grid *g)
{
	double before = 0.0;

	for (int i = 0; i < g->n; i++) {
		int neighbours = (i > 0) + (i < g->n - 1);
		double pivot = 1.0 + COUPLED * neighbours - COUPLED * COUPLED * before;
		before = g->factor[i] = 1.0 / pivot;
	}
}

static void x_solve(struct grid *g)
{
	for (int z = 0; z < g->planes; z++) {
		for (int y = 0; y < g->n; y++) {
			double *r = &g->right[at(g, z, y, 0)];
			r[0] *= g->factor[0];
			for (int x = 1; x < g->n; x++)
				r[x] = (r[x] + COUPLED * r[x - 1]) * g->factor[x];
			for (int x = g->n - 2; x >= 0; x--)
				r[x] += COUPLED * g->factor[x] * r[x + 1];
		}
	}
}

/* A row of points along x takes in the one before it, or on the way back the one after. */
static void combine(const struct grid *g, double *to, const double *from, double own, double other)
{
	for (int x = 0; x < g->n; x++)
		to[x] = own * to[x] + other * from[x];
}

static void y_solve(struct grid *g)
{
	const double *f = g->factor;

	for (int z = 0; z < g->planes; z++) {
		double *r = &g->right[at(g, z, 0, 0)];
		combine(g, r, r, f[0], 0.0);
		for (int y = 1; y < g->n; y++)
			combine(g, r + y * g->n, r + (y - 1) * g->n, f[y], COUPLED * f[y]);
		for (int y = g->n - 2; y >= 0; y--)
			combine(g, r + y * g->n, r + (y + 1) * g->n, 1.0, COUPLED * f[y]);
	}
}

/* Lines along z go through all ranks: up to eliminate, down to put in, LANES rows at once. */
static void z_solve(struct grid *g)
{
	const double *f = g->factor + g->first;
	int top = g->planes - 1;

	for (int y = 0; y < g->n; y += LANES) {
		int rows = y + LANES <= g->n ? LANES : g->n - y;
		MPI_Recv(&g->right[at(g, -1, y, 0)], rows * g->n, MPI_DOUBLE, g->below, 2,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int z = 0; z <= top; z++)
			for (int i = y; i < y + rows; i++)
				combine(g, &g->right[at(g, z, i, 0)], &g->right[at(g, z - 1, i, 0)],
					f[z], g->first + z > 0 ? COUPLED * f[z] : 0.0);
		MPI_Send(&g->right[at(g, top, y, 0)], rows * g->n, MPI_DOUBLE, g->above, 2,
			 MPI_COMM_WORLD);
	}
	for (int y = 0; y < g->n; y += LANES) {
		int rows = y + LANES <= g->n ? LANES : g->n - y;
		int last = g->above == MPI_PROC_NULL ? top - 1 : top;
		MPI_Recv(&g->right[at(g, top + 1, y, 0)], rows * g->n, MPI_DOUBLE, g->above, 3,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int z = last; z >= 0; z--)
			for (int i = y; i < y + rows; i++)
				combine(g, &g->right[at(g, z, i, 0)], &g->right[at(g, z + 1, i, 0)],
					1.0, COUPLED * f[z]);
		MPI_Send(&g->right[at(g, 0, y, 0)], rows * g->n, MPI_DOUBLE, g->below, 3,
			 MPI_COMM_WORLD);
	}
}

static void add(struct grid *g)
{
	size_t first = at(g, 0, 0, 0), last = at(g, g->planes, 0, 0);

	for (size_t i = first; i < last; i++)
		g->field[i] += g->right[i];
}

static void norm(struct grid *g)
{
	size_t first = at(g, 0, 0, 0), last = at(g, g->planes, 0, 0);
	double sum = 0.0;

	for (size_t i = first; i < last; i++)
		sum += g->field[i] * g->field[i];
	MPI_Allreduce(&sum, &g->norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct kernel {
	const char *name;
	void (*run)(struct grid *g);
} KERNELS[] = {
	{"copy_faces", copy_faces},
	{"right_side", right_side},
	{"x_solve", x_solve},
	{"y_solve", y_solve},
	{"z_solve", z_solve},
	{"add", add},
	{"norm", norm},
};

enum { ALL = sizeof(KERNELS) / sizeof(KERNELS[0]) };

static struct kernel kernel_of(const char *name)
{
	for (int i = 0; i < ALL; i++)
		if (!strcmp(KERNELS[i].name, name))
			return KERNELS[i];
	fprintf(stderr, "kernels: no kernel %s; there are:", name);
	for (int i = 0; i < ALL; i++)
		fprintf(stderr, " %s", KERNELS[i].name);
	fputc('\n', stderr);
	MPI_Finalize(); /* all ranks are here; a launcher may lose what is said before an abort */
	exit(2);
}

static struct grid grid_of(int n)
{
	int rank, ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	struct grid g = {.n = n, .first = n * rank / ranks};
	g.planes = n * (rank + 1) / ranks - g.first;
	g.below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	g.above = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
	size_t points = at(&g, g.planes + 1, 0, 0);
	g.field = calloc(points, sizeof(double));
	g.right = calloc(points, sizeof(double));
	g.factor = calloc((size_t)n, sizeof(double));
	if (n < ranks || !g.field || !g.right || !g.factor)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (size_t i = at(&g, 0, 0, 0); i < at(&g, g.planes, 0, 0); i++) {
		size_t point = i + (size_t)g.first * (size_t)n * (size_t)n;
		g.field[i] = 1.0 + 0.1 * (double)(point % 7);
		g.right[i] = 0.1 * (double)(point % 5);
	}
	eliminate(&g);
	return g;
}

int main(int argc, char **argv)
{
	struct kernel chain[MOST];
	int rank, length = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int n = argc > 1 ? atoi(argv[1]) : 96;
	int steps = argc > 2 ? atoi(argv[2]) : 100;
	for (int i = 3; i < argc && length < MOST; i++)
		chain[length++] = kernel_of(argv[i]);
	if (length == 0)
		for (; length < ALL; length++)
			chain[length] = KERNELS[length];
	struct grid g = grid_of(n);
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();
	for (int step = 0; step < steps; step++)
		for (int i = 0; i < length; i++)
			chain[i].run(&g);
	MPI_Barrier(MPI_COMM_WORLD);
	double seconds = MPI_Wtime() - begin;
	norm(&g);
	if (rank == 0)
		printf("kernels: %d of them, %d steps in %.6f s, square %.9g\n", length, steps,
		       seconds, g.norm);
	free(g.field);
	free(g.right);
	free(g.factor);
	MPI_Finalize();
	return 0;
}
