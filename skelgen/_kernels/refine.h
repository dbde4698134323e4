#ifndef SKELGEN_KERNELS_REFINE_H
#define SKELGEN_KERNELS_REFINE_H
#include <stdint.h>

struct skelgen_refine {
	/* Columns as they are, each of so many runs; from first_step on they are steps. */
	const double *columns;
	int64_t first_step;
	int64_t runs;
	const double *values;
	const double *weights;
	/* Larger misses are taken as these; so often each set is fitted near itself. */
	double largest_miss;
	int64_t times;
};

int64_t skelgen_refine(const struct skelgen_refine *in, int64_t count, const int32_t *sets,
		       double *coefficients, double *errors);

#endif
