#include <stdint.h>

void skelgen_spread(const int32_t *leaf, const int64_t *value, int64_t n, double *total,
		    double *squares, double *least, double *most, int64_t *histogram, int32_t bins);
