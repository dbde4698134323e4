#ifndef SKELGEN_KERNELS_SELECT_H
#define SKELGEN_KERNELS_SELECT_H
#include <stdint.h>

int64_t skelgen_select(int64_t items, const int32_t *body_items, const int64_t *trips_first,
		       const int64_t *trips, double fraction, int64_t capacity, int32_t *leaf,
		       float *weight);
int64_t skelgen_label(int64_t count, const uint64_t *key, int32_t *label, int64_t *first);

#endif
