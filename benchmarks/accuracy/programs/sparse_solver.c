/*
 * sparse_solver: linear systems of an unstructured sparse matrix, by BiCGStab.
 *
 * BiCGStab of van der Vorst (1992), preconditioned by block Jacobi with ILU(0) of each rank's
 * own block (Meijerink and van der Vorst 1977). Text: Saad, Iterative Methods for Sparse
 * Linear Systems (2003). The matrix is of diffusion and drift on a random geometric graph
 * (Penrose 2003), whose points are in the order of the cells of a square.
 *
 *     mpirun -n 2 sparse_solver [cells of an edge] [right-hand sides]
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 2000 };

static int ranks, me, edge, first, n, ghosts; /* own points: first to first + n - 1 */
static int *start;			      /* first point of each cell */
static int *row, *column, *diagonal;	      /* the matrix; columns from n on are ghosts */
static double *entry, *factor, *packed;
static int *asked, *asked_at, *sent, *sent_at, *wanted; /* ghosts, and own points to send */
static MPI_Request *request;

static void *get(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (!memory)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return memory;
}

static double uniform(uint64_t x) /* splitmix64 */
{
	x = (x + 1) * 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

static int share(int rank) /* where the points of a rank start */
{
	return (int)((long long)start[edge * edge] * rank / ranks);
}

/* Append the row of a point of cell (x, y), of the points nearer than a cell's edge. */
static int make_row(int point, int x, int y, int end)
{
	double px = x + uniform(2 * (uint64_t)point), py = y + uniform(2 * (uint64_t)point + 1);
	double whole = 1e-3;

	for (int j = y > 0 ? y - 1 : 0; j <= y + 1 && j < edge; j++) {
		for (int i = x > 0 ? x - 1 : 0; i <= x + 1 && i < edge; i++) {
			for (int q = start[j * edge + i]; q < start[j * edge + i + 1]; q++) {
				double dx = i + uniform(2 * (uint64_t)q) - px;
				double dy = j + uniform(2 * (uint64_t)q + 1) - py;
				if (dx * dx + dy * dy >= 1.0)
					continue;
				if (q == point)
					diagonal[point - first] = end;
				entry[end] = -exp(-dx * dx - dy * dy) * (1 + 0.3 * dx + 0.2 * dy);
				whole -= q == point ? 0.0 : entry[end];
				column[end++] = q;
			}
		}
	}
	entry[diagonal[point - first]] = whole;
	return end;
}

static void make_matrix(void) /* each cell has 2 to 5 points */
{
	start = get((size_t)(edge * edge), sizeof(int));
	for (int cell = 0; cell < edge * edge; cell++)
		start[cell + 1] = start[cell] + 2 + (int)(4 * uniform(~(uint64_t)cell));
	first = share(me);
	n = share(me + 1) - first;
	row = get((size_t)n, sizeof(int));
	diagonal = get((size_t)n, sizeof(int));
	column = get((size_t)n * 45, sizeof(int));
	entry = get((size_t)n * 45, sizeof(double));
	for (int cell = 0; cell < edge * edge; cell++)
		for (int p = start[cell]; p < start[cell + 1]; p++)
			if (p >= first && p < first + n)
				row[p - first + 1] =
					make_row(p, cell % edge, cell / edge, row[p - first]);
}

/* Number ghosts in the order of their owners, and tell those which points are wanted. */
static void make_exchange(void)
{
	int *here = get((size_t)start[edge * edge], sizeof(int));
	int *ghost = get((size_t)row[n], sizeof(int));

	asked = get((size_t)ranks * 4 + 2, sizeof(int));
	sent = asked + ranks;
	asked_at = sent + ranks;
	sent_at = asked_at + ranks + 1;
	for (int e = 0; e < row[n]; e++)
		here[column[e]] = 1;
	for (int r = 0; r < ranks; r++) {
		for (int p = share(r); p < share(r + 1); p++) {
			if (r != me && here[p])
				ghost[ghosts++] = p;
			here[p] = r == me ? p - first : n + ghosts - 1;
		}
		asked_at[r + 1] = ghosts;
		asked[r] = ghosts - asked_at[r];
	}
	for (int e = 0; e < row[n]; e++)
		column[e] = here[column[e]];
	MPI_Alltoall(asked, 1, MPI_INT, sent, 1, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0; r < ranks; r++)
		sent_at[r + 1] = sent_at[r] + sent[r];
	wanted = get((size_t)sent_at[ranks], sizeof(int));
	packed = get((size_t)sent_at[ranks], sizeof(double));
	request = get((size_t)ranks * 2, sizeof(MPI_Request));
	MPI_Alltoallv(ghost, asked, asked_at, MPI_INT, wanted, sent, sent_at, MPI_INT,
		      MPI_COMM_WORLD);
	free(ghost);
	free(here);
}

static void fill_ghosts(double *x)
{
	int count = 0;

	for (int r = 0; r < ranks; r++)
		if (asked[r])
			MPI_Irecv(&x[n + asked_at[r]], asked[r], MPI_DOUBLE, r, 0, MPI_COMM_WORLD,
				  &request[count++]);
	for (int k = 0; k < sent_at[ranks]; k++)
		packed[k] = x[wanted[k] - first];
	for (int r = 0; r < ranks; r++)
		if (sent[r])
			MPI_Isend(&packed[sent_at[r]], sent[r], MPI_DOUBLE, r, 0, MPI_COMM_WORLD,
				  &request[count++]);
	MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
}

static void multiply(double *x, double *y)
{
	fill_ghosts(x);
	for (int i = 0; i < n; i++) {
		double sum = 0.0;
		for (int e = row[i]; e < row[i + 1]; e++)
			sum += entry[e] * x[column[e]];
		y[i] = sum;
	}
}

static void factorise(void) /* ILU(0) of the own block */
{
	int *where = get((size_t)(n + ghosts), sizeof(int));

	factor = get((size_t)row[n], sizeof(double));
	for (int e = 0; e < row[n]; e++)
		factor[e] = entry[e];
	for (int i = 0; i < n; i++) {
		for (int e = row[i]; e < row[i + 1]; e++)
			where[column[e]] = e + 1;
		for (int e = row[i]; e < diagonal[i]; e++) {
			int k = column[e];
			if (k >= n)
				continue;
			factor[e] /= factor[diagonal[k]];
			for (int f = diagonal[k] + 1; f < row[k + 1]; f++)
				if (column[f] < n && where[column[f]])
					factor[where[column[f]] - 1] -= factor[e] * factor[f];
		}
		for (int e = row[i]; e < row[i + 1]; e++)
			where[column[e]] = 0;
	}
	free(where);
}

static void precondition(const double *x, double *y)
{
	for (int i = 0; i < n; i++) {
		y[i] = x[i];
		for (int e = row[i]; e < diagonal[i]; e++)
			y[i] -= column[e] < n ? factor[e] * y[column[e]] : 0.0;
	}
	for (int i = n - 1; i >= 0; i--) {
		for (int e = diagonal[i] + 1; e < row[i + 1]; e++)
			y[i] -= column[e] < n ? factor[e] * y[column[e]] : 0.0;
		y[i] /= factor[diagonal[i]];
	}
}

static double dot(const double *x, const double *y)
{
	double mine = 0.0, whole;

	for (int i = 0; i < n; i++)
		mine += x[i] * y[i];
	MPI_Allreduce(&mine, &whole, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return whole;
}

/* Improve x from 0 until the residual is 1e-10 of b; return the number of iterations. */
static int solve(const double *b, double *x, double *work[7])
{
	double *r = work[0], *p = work[1], *v = work[2], *t = work[3], *y = work[4], *z = work[5];
	double *shadow = work[6], rho = 1.0, alpha = 1.0, omega = 1.0, square = dot(b, b);
	double enough = 1e-20 * square;
	int iteration = 0;

	for (int i = 0; i < n; i++) {
		r[i] = shadow[i] = b[i];
		x[i] = p[i] = v[i] = 0.0;
	}
	for (; square > enough && iteration < LIMIT; iteration++) {
		double last = rho;
		rho = dot(shadow, r);
		double beta = rho / last * alpha / omega;
		for (int i = 0; i < n; i++)
			p[i] = r[i] + beta * (p[i] - omega * v[i]);
		precondition(p, y);
		multiply(y, v);
		alpha = rho / dot(shadow, v);
		for (int i = 0; i < n; i++)
			r[i] -= alpha * v[i];
		precondition(r, z);
		multiply(z, t);
		omega = dot(t, r) / dot(t, t);
		for (int i = 0; i < n; i++) {
			x[i] += alpha * y[i] + omega * z[i];
			r[i] -= omega * t[i];
		}
		square = dot(r, r);
	}
	return iteration;
}

int main(int argc, char **argv)
{
	double mine[2] = {0.0, 0.0}, whole[2], *work[7];
	long iterations = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	edge = argc > 1 ? atoi(argv[1]) : 128;
	int sides = argc > 2 ? atoi(argv[2]) : 10;
	make_matrix();
	make_exchange();
	factorise();
	for (int k = 0; k < 7; k++)
		work[k] = get((size_t)(n + ghosts), sizeof(double));
	double *x = get((size_t)n, sizeof(double)), *b = get((size_t)n, sizeof(double));
	double *known = get((size_t)(n + ghosts), sizeof(double));
	for (int side = 0; side < sides; side++) {
		double wave = pow(1000.0, uniform(((uint64_t)side + 1) << 40));
		for (int i = 0; i < n; i++)
			known[i] = cos(wave * (first + i) / start[edge * edge]);
		multiply(known, b);
		iterations += solve(b, x, work);
		for (int i = 0; i < n; i++) {
			mine[0] += x[i] * x[i];
			mine[1] += (x[i] - known[i]) * (x[i] - known[i]);
		}
	}
	MPI_Reduce(mine, whole, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0)
		printf("sparse_solver: %d points, %ld iterations, squares %.8g, error %.2g\n",
		       start[edge * edge], iterations, whole[0], sqrt(whole[1] / whole[0]));
	MPI_Finalize();
	return 0;
}
