/*
 * Fits sums near their own values. The Python twin stands in tests/twins/models_searching.py.
 *
 * Columns that nearly are one another are told apart by singular values: of the triangle of
 * the columns, which is small, by rotations of pairs (Jacobi). Most sets need none of that.
 */
#include "refine.h"

#include <stdlib.h>
#include <string.h>

#include "orthogonal.h"

enum {
	NO_MEMORY = -1,
	SWEEPS = 30,
	/* All directions count. */
	ALL = -1,
};

/* Smaller singular values than this part of the largest count as 0. */
static const double SMALLEST = 1e-7;

/* Leverage that is left where a run alone determines a coefficient. */
static const double NOTHING = 1e-9;

struct work {
	const struct skelgen_refine *in;
	/* Of each run: columns of the set by what it counts, the same orthonormal. */
	double *rows;
	double *q;
	double *target;
	double *left;
};

/* Rotates columns i and j of a and v, so that those of a have no part in each other. */
static double rotate(double a[MOST][MOST], double v[MOST][MOST], int i, int j, int size)
{
	double own = 0, other = 0, both = 0, ratio, tangent, cosine, sine;

	for (int k = 0; k < size; k++) {
		own += a[k][i] * a[k][i];
		other += a[k][j] * a[k][j];
		both += a[k][i] * a[k][j];
	}
	if (fabs(both) <= 1e-16 * sqrt(own * other) || both == 0)
		return 0;
	ratio = (other - own) / (2 * both);
	tangent = (ratio >= 0 ? 1 : -1) / (fabs(ratio) + sqrt(1 + ratio * ratio));
	cosine = 1 / sqrt(1 + tangent * tangent);
	sine = cosine * tangent;
	for (int k = 0; k < size; k++) {
		double left = a[k][i], below = v[k][i];

		a[k][i] = cosine * left - sine * a[k][j];
		a[k][j] = sine * left + cosine * a[k][j];
		v[k][i] = cosine * below - sine * v[k][j];
		v[k][j] = sine * below + cosine * v[k][j];
	}
	return fabs(both) / sqrt(own * other);
}

/* The square of all numbers of the first size rows and columns. */
static double square(double a[MOST][MOST], int size)
{
	double total = 0;

	for (int i = 0; i < size; i++)
		for (int j = 0; j < size; j++)
			total += a[i][j] * a[i][j];
	return total;
}

/*
 * Inverts a triangle by substitution; returns whether no singular value of it is so small
 * that it counts as 0: their ratio is at most that of the norms.
 */
static int plainly_inverted(double r[MOST][MOST], double inverse[MOST][MOST], int size)
{
	memset(inverse, 0, MOST * sizeof(*inverse));
	for (int j = 0; j < size; j++) {
		if (!(r[j][j] > 0))
			return 0;
		inverse[j][j] = 1 / r[j][j];
		for (int i = j - 1; i >= 0; i--) {
			double value = 0;

			for (int k = i + 1; k <= j; k++)
				value -= r[i][k] * inverse[k][j];
			inverse[i][j] = value * inverse[i][i];
		}
	}
	return square(r, size) * square(inverse, size) * SMALLEST * SMALLEST < 0.25;
}

/*
 * Turns a triangle into its pseudo-inverse, and onto into the directions that count, as
 * columns; returns how many do.
 */
static int inverted(double r[MOST][MOST], double inverse[MOST][MOST], double onto[MOST][MOST],
		    int size)
{
	double v[MOST][MOST] = {{0}}, length[MOST], largest = 0;
	int counted = 0;

	for (int i = 0; i < size; i++)
		v[i][i] = 1;
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		double turned = 0;

		for (int i = 0; i < size; i++)
			for (int j = i + 1; j < size; j++)
				turned = fmax(turned, rotate(r, v, i, j, size));
		if (turned < 1e-15)
			break;
	}
	memset(inverse, 0, MOST * sizeof(*inverse));
	for (int j = 0; j < size; j++) {
		length[j] = 0;
		for (int i = 0; i < size; i++)
			length[j] += r[i][j] * r[i][j];
		length[j] = sqrt(length[j]);
		largest = fmax(largest, length[j]);
	}
	for (int j = 0; j < size; j++) {
		if (!(length[j] > SMALLEST * largest))
			continue;
		for (int i = 0; i < size; i++)
			onto[i][counted] = r[i][j] / length[j];
		for (int i = 0; i < size; i++)
			for (int k = 0; k < size; k++)
				inverse[i][k] += v[i][j] / length[j] * onto[k][counted];
		counted++;
	}
	return counted;
}

/* Writes what each column has of the sum now, and how far runs are off; 0: no numbers. */
static int near_itself(struct work *work, const int32_t *set, const double *found, int size)
{
	const struct skelgen_refine *in = work->in;
	int64_t n = in->runs;
	double check = 0;

	for (int64_t run = 0; run < n; run++)
		work->left[run] = 0;
	for (int i = 0; i < size; i++)
		if (set[i] < in->first_step)
			add(work->left, in->columns + set[i] * n, found[i], n);
	for (int64_t run = 0; run < n; run++) {
		double miss = log(in->values[run] / work->left[run]);

		miss = miss > in->largest_miss ? in->largest_miss : miss;
		miss = miss < -in->largest_miss ? -in->largest_miss : miss;
		work->target[run] = (1 + miss) * in->weights[run];
		check += work->target[run] * 0;
	}
	for (int64_t run = 0; run < n; run++)
		work->left[run] = in->weights[run] / work->left[run];
	for (int i = 0; i < size; i++) {
		int step = set[i] >= in->first_step;
		const double *column = in->columns + set[i] * n;
		const double *counted = step ? in->weights : work->left;
		double *row = work->rows + i * n, factor = step ? 1 : found[i];

		for (int64_t run = 0; run < n; run++) {
			row[run] = factor * column[run] * counted[run];
			check += row[run] * 0;
		}
	}
	return check == 0;
}

/* Returns the error at runs left out, by how much of each run the directions have. */
static double left_out(struct work *work, int size, const double *factors, double onto[MOST][MOST],
		       int counted)
{
	int64_t n = work->in->runs;

	for (int64_t run = 0; run < n; run++) {
		double left = -work->target[run], free = 1;

		for (int i = 0; i < size; i++)
			left += work->rows[i * n + run] * factors[i];
		for (int i = 0; counted == ALL && i < size; i++)
			free -= work->q[i * n + run] * work->q[i * n + run];
		for (int j = 0; j < counted; j++) {
			double part = 0;

			for (int i = 0; i < size; i++)
				part += work->q[i * n + run] * onto[i][j];
			free -= part * part;
		}
		work->left[run] = left / fmax(free, NOTHING);
	}
	return sqrt(dot(work->left, work->left, n) / (double)n);
}

/* Fits the columns to the target; returns the error at runs left out, if it is the last. */
static double solved(struct work *work, int size, double *factors, int last)
{
	int64_t n = work->in->runs;
	double r[MOST][MOST] = {{0}}, inverse[MOST][MOST], onto[MOST][MOST], along[MOST];
	int counted;

	memcpy(work->q, work->rows, (size_t)(size * n) * sizeof(double));
	orthonormal(work->q, n, size, r);
	for (int i = 0; i < size; i++)
		along[i] = dot(work->q + i * n, work->target, n);
	counted = ALL;
	if (!plainly_inverted(r, inverse, size))
		counted = inverted(r, inverse, onto, size);
	for (int i = 0; i < size; i++) {
		factors[i] = 0;
		for (int k = 0; k < size; k++)
			factors[i] += inverse[i][k] * along[k];
	}
	return last ? left_out(work, size, factors, onto, counted) : HUGE_VAL;
}

static double refined(struct work *work, const int32_t *set, double *found)
{
	double error = HUGE_VAL;
	int size = 0;

	while (size < MOST && set[size] >= 0)
		size++;
	for (int64_t time = 0; time < work->in->times; time++) {
		double factors[MOST];

		if (!near_itself(work, set, found, size))
			return (double)NAN;
		error = solved(work, size, factors, time == work->in->times - 1);
		for (int i = 0; i < size; i++)
			found[i] =
				set[i] >= work->in->first_step ? factors[i] : found[i] * factors[i];
	}
	return error;
}

/*
 * Fits each of the sets, which have 4 places (-1 where there are fewer columns), near
 * itself, starting at the coefficients, which are replaced. Errors are those at runs that
 * are left out; nan where numbers are none. Returns 0, or -1 without memory.
 */
int64_t skelgen_refine(const struct skelgen_refine *in, int64_t count, const int32_t *sets,
		       double *coefficients, double *errors)
{
	size_t size = (size_t)in->runs * sizeof(double);
	struct work work = {.in = in};
	double *room = malloc((2 * MOST + 2) * size + 1);

	if (!room)
		return NO_MEMORY;
	work.rows = room;
	work.q = room + MOST * in->runs;
	work.target = work.q + MOST * in->runs;
	work.left = work.target + in->runs;
	for (int64_t i = 0; i < count; i++)
		errors[i] = refined(&work, sets + MOST * i, coefficients + MOST * i);
	free(room);
	return 0;
}
