#include <stdint.h>

int64_t skelgen_factorise(const int64_t *keys, int64_t n, int32_t *slots, int32_t bits,
			  int64_t *first, int64_t capacity, int32_t *code);
