#include <stdint.h>

void skelgen_spread_of_ranks(const int32_t *leaf, const int64_t *value, int64_t n, int64_t ranks,
			     int64_t leaves, double *total, double *squares, double *least,
			     double *most, int64_t *histogram, int32_t bins);
