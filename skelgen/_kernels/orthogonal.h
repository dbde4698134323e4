/* Few columns made orthonormal: what least squares of a set of terms need. */
#ifndef SKELGEN_KERNELS_ORTHOGONAL_H
#define SKELGEN_KERNELS_ORTHOGONAL_H
#include <math.h>
#include <stdint.h>

enum {
	/* Columns of a set at most. */
	MOST = 4,
};

/* In four strands, so that additions need not wait for each other. */
static inline double dot(const double *a, const double *b, int64_t n)
{
	double sums[4] = {0};
	int64_t i = 0;

	for (; i + 4 <= n; i += 4) {
		sums[0] += a[i] * b[i];
		sums[1] += a[i + 1] * b[i + 1];
		sums[2] += a[i + 2] * b[i + 2];
		sums[3] += a[i + 3] * b[i + 3];
	}
	for (; i < n; i++)
		sums[0] += a[i] * b[i];
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* a += factor * b */
static inline void add(double *restrict a, const double *restrict b, double factor, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		a[i] += factor * b[i];
}

static inline void scale(double *a, double factor, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		a[i] *= factor;
}

/*
 * Makes count columns of n numbers, one after the other in q, orthonormal; r is the upper
 * triangle that gives them back. A column of which little is new is freed of those before it
 * twice: the second time removes what rounding left. One that is nothing new becomes 0, and
 * so does its r.
 */
static inline void orthonormal(double *q, int64_t n, int count, double r[MOST][MOST])
{
	for (int j = 0; j < count; j++) {
		double *column = q + j * n;
		double before = sqrt(dot(column, column, n)), length = before;

		for (int i = 0; i < j; i++)
			r[i][j] = 0;
		for (int time = 0; j > 0 && time < 2 && !(time && length > 0.1 * before); time++) {
			for (int i = 0; i < j; i++) {
				double along = dot(q + i * n, column, n);

				add(column, q + i * n, -along, n);
				r[i][j] += along;
			}
			length = sqrt(dot(column, column, n));
		}
		if (length <= 1e-14 * before)
			length = 0;
		r[j][j] = length;
		scale(column, length == 0 ? 0 : 1 / length, n);
	}
}

#endif
