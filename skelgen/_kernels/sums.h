#ifndef SKELGEN_KERNELS_SUMS_H
#define SKELGEN_KERNELS_SUMS_H
#include <stdint.h>

struct skelgen_sums {
	/* Columns: how many there are, and how many numbers each has. */
	int64_t count;
	int64_t runs;
	/* Columns of length 1, how long they were, and what they shall add up to. */
	const double *unit;
	const double *length;
	const double *target;
	/* Products of the columns with each other and with the target; its own square. */
	const double *products;
	const double *shares;
	double whole;
	double ridge;
	/* What each column is: a sum of 1, 2 and 4 for positive, messages and step. */
	const uint8_t *kind;
	const double *growth;
	double largest_step;
	/* Columns of a set; sets that are kept of each size, and that are extended. */
	int64_t most;
	int64_t kept;
	int64_t beam;
	int64_t others;
};

int64_t skelgen_sums(const struct skelgen_sums *in, int32_t *sets, double *coefficients,
		     double *errors);

#endif
