/*
 * Statistics of the values at each leaf of a loop nest.
 *
 * The arrays have one entry for each leaf, histogram has bins of them; the caller has set
 * total, squares and histogram to 0, least to infinity and most to minus infinity.
 */
#include "spread.h"

static int32_t bin_of(int64_t value)
{
	return value < 1 ? 0 : 64 - __builtin_clzll((unsigned long long)value);
}

static void spread(const int32_t *leaf, const int64_t *value, int64_t n, double *total,
		   double *squares, double *least, double *most, int64_t *histogram, int32_t bins)
{
	for (int64_t i = 0; i < n; i++) {
		int32_t at = leaf[i];
		double amount = (double)value[i];

		total[at] += amount;
		squares[at] += amount * amount;
		if (amount < least[at])
			least[at] = amount;
		if (amount > most[at])
			most[at] = amount;
		histogram[(int64_t)at * bins + bin_of(value[i])]++;
	}
}

/* The same for ranks with the same leaves: their values and arrays stand one behind the other. */
void skelgen_spread_of_ranks(const int32_t *leaf, const int64_t *value, int64_t n, int64_t ranks,
			     int64_t leaves, double *total, double *squares, double *least,
			     double *most, int64_t *histogram, int32_t bins)
{
	for (int64_t rank = 0; rank < ranks; rank++) {
		int64_t at = rank * leaves;

		spread(leaf, value + rank * n, n, total + at, squares + at, least + at, most + at,
		       histogram + at * bins, bins);
	}
}
