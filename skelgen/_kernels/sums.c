/*
 * Finds the sets of few columns that come nearest to a target: all single ones, and the
 * best of each size with one more. The Python twin stands in tests/twins/models_searching.py.
 *
 * A set is judged by the triangle of its products (Cholesky): one more column adds a row
 * to that of the set it extends.
 */
#include "sums.h"

#include <stdlib.h>
#include <string.h>

#include "orthogonal.h"

enum {
	POSITIVE = 1,
	MESSAGES = 2,
	STEP = 4,
	NO_MEMORY = -1,
	TOO_LARGE = -2,
	/* Longer lists are no use: most sets are kept of none. */
	LONGEST = 128,
};

/* Leverage that is left where a run alone determines a coefficient; the error there. */
static const double NOTHING = 1e-9;
static const double UNKNOWN = 1e9;

/* A column of which less is new is a sum of the others. */
static const double SAME = 1e-7;

struct set {
	double rest;
	uint64_t key;
	int32_t column[MOST];
};

/* The best sets so far, in order; of equal ones those with the smaller key. */
struct list {
	int64_t count;
	int64_t most;
	struct set sets[LONGEST];
};

/* A set that is extended: its columns in order, and the rows of its triangle. */
struct parent {
	struct set set;
	double triangle[MOST][MOST];
	/* Of each row: 1 over its last number, and the part of the target that it has. */
	double inverse[MOST];
	double along[MOST];
	/* Of the row that was begun: the square of its last number, and the part times it. */
	double square;
	double share;
};

struct search {
	const struct skelgen_sums *in;
	int any_messages;
	uint64_t power[MOST];
	/* Columns of one set, and what they leave over. */
	double *q;
	double *left;
	struct list best;
	struct list order;
};

/* Whether a set that leaves so much over would be kept. */
static int good_enough(const struct list *list, double rest)
{
	return list->count < list->most || rest <= list->sets[list->count - 1].rest;
}

/* Each set comes as often as it has columns, and is kept once. */
static void keep(struct list *list, const struct set *set)
{
	int64_t at = list->count;

	for (int64_t i = 0; i < list->count; i++)
		if (list->sets[i].key == set->key)
			return;
	if (at == list->most) {
		const struct set *last = &list->sets[at - 1];

		if (set->rest > last->rest || (set->rest == last->rest && set->key > last->key))
			return;
		at--;
	} else {
		list->count++;
	}
	for (; at > 0; at--) {
		const struct set *before = &list->sets[at - 1];

		if (before->rest < set->rest ||
		    (before->rest == set->rest && before->key < set->key))
			break;
		list->sets[at] = *before;
	}
	list->sets[at] = *set;
}

/* Whether a program can have such a sum; see _Kinds.sensible. */
static int sensible(const struct search *search, const struct set *set, int size)
{
	double sent = -HUGE_VAL, computed = -HUGE_VAL;
	int positive = 0, steps = 0;

	for (int i = 0; i < size; i++) {
		uint8_t kind = search->in->kind[set->column[i]];
		double growth = search->in->growth[set->column[i]];

		positive |= kind & POSITIVE;
		steps += (kind & STEP) != 0;
		sent = fmax(sent, kind & MESSAGES ? growth : -1);
		computed = fmax(computed, kind & MESSAGES ? -1 : growth);
	}
	return positive && steps <= 1 && (!search->any_messages || sent <= computed);
}

/*
 * Adds a column to a triangle, as the last one of size. Returns by how much less is left
 * over with it.
 */
static inline double grown(const struct skelgen_sums *in, struct parent *parent, int32_t column,
			   int size)
{
	const double *products = in->products + column * in->count;
	double *row = parent->triangle[size - 1];
	double square = products[column] + in->ridge, share = in->shares[column];

	for (int i = 0; i < size - 1; i++) {
		double part = products[parent->set.column[i]];

		for (int j = 0; j < i; j++)
			part -= row[j] * parent->triangle[i][j];
		row[i] = part * parent->inverse[i];
		square -= row[i] * row[i];
		share -= row[i] * parent->along[i];
	}
	parent->square = square;
	parent->share = share;
	parent->set.column[size - 1] = column;
	return share * share / square;
}

/* Ends what grown began, so that the triangle can be used and grow further. */
static void completed(struct parent *parent, int size)
{
	double length = sqrt(parent->square);

	parent->triangle[size - 1][size - 1] = length;
	parent->inverse[size - 1] = 1 / length;
	parent->along[size - 1] = parent->share / length;
}

/* Whether all coefficients but those of steps are above 0. */
static int above(const struct skelgen_sums *in, const struct parent *parent, int size)
{
	double found[MOST];
	int good = 1;

	for (int i = size - 1; i >= 0; i--) {
		double value = parent->along[i];

		for (int j = i + 1; j < size; j++)
			value -= parent->triangle[j][i] * found[j];
		found[i] = value * parent->inverse[i];
		good &= found[i] > 0 || in->kind[parent->set.column[i]] & STEP;
	}
	return good;
}

/* The set of a parent and a column, its columns in order. */
static struct set ordered(const struct search *search, const struct set *set, int32_t column,
			  int size)
{
	struct set found = *set;
	int at = size - 1;

	for (; at > 0 && found.column[at - 1] > column; at--)
		found.column[at] = found.column[at - 1];
	found.column[at] = column;
	found.key = 0;
	for (int i = 0; i < size; i++)
		found.key += (uint64_t)found.column[i] * search->power[i];
	return found;
}

/* Judges a set with each further column; the set is of size - 1 columns. */
static void extend(struct search *search, const struct set *set, int size)
{
	const struct skelgen_sums *in = search->in;
	struct parent parent = {.set = *set};
	double rest = in->whole;

	for (int i = 1; i < size; i++) {
		rest -= grown(in, &parent, set->column[i - 1], i);
		completed(&parent, i);
	}
	for (int32_t column = 0; column < in->count; column++) {
		struct set wider;
		double left;
		int inside = 0;

		for (int i = 0; i < size - 1; i++)
			inside |= set->column[i] == column;
		left = rest - grown(in, &parent, column, size);
		if (inside || left != left)
			continue;
		left = left > 0 ? left : 0;
		if (!good_enough(&search->order, left) && !good_enough(&search->best, left))
			continue;
		wider = ordered(search, set, column, size);
		wider.rest = left;
		completed(&parent, size);
		keep(&search->order, &wider);
		if (good_enough(&search->best, left) && sensible(search, &wider, size) &&
		    above(in, &parent, size))
			keep(&search->best, &wider);
	}
}

/* Coefficients of columns of length 1, from the triangle and what is along each. */
static int solved(double r[MOST][MOST], const double *along, int size, double *found)
{
	for (int i = size - 1; i >= 0; i--) {
		double value = along[i];

		for (int j = i + 1; j < size; j++)
			value -= r[i][j] * found[j];
		if (!(r[i][i] >= SAME))
			return 0;
		found[i] = value / r[i][i];
	}
	return 1;
}

/* Fits a set; returns whether its coefficients are such that a program can have them. */
static int fitted(struct search *search, const struct set *set, int size, double *coefficients,
		  double *error)
{
	const struct skelgen_sums *in = search->in;
	int64_t n = in->runs;
	double r[MOST][MOST], along[MOST], found[MOST] = {0}, total;

	for (int i = 0; i < size; i++)
		memcpy(search->q + i * n, in->unit + set->column[i] * n,
		       (size_t)n * sizeof(double));
	orthonormal(search->q, n, size, r);
	for (int i = 0; i < size; i++)
		along[i] = dot(search->q + i * n, in->target, n);
	if (!solved(r, along, size, found))
		return 0;
	for (int i = 0; i < MOST; i++)
		coefficients[i] = i < size ? found[i] / in->length[set->column[i]] : 0;
	for (int i = 0; i < size; i++) {
		int step = in->kind[set->column[i]] & STEP;

		if (step ? !(fabs(coefficients[i]) < in->largest_step) : !(coefficients[i] > 0))
			return 0;
	}
	for (int64_t run = 0; run < n; run++) {
		double left = -in->target[run], free = 1;

		for (int i = 0; i < size; i++) {
			double value = search->q[i * n + run];

			left += value * along[i];
			free -= value * value;
		}
		search->left[run] = free > NOTHING ? left / free : UNKNOWN;
	}
	total = dot(search->left, search->left, n);
	*error = sqrt(total / (double)n);
	return 1;
}

/* The sets of the next round: the best ones, and others that would be without signs. */
static int64_t chosen(const struct search *search, struct set *sets)
{
	int64_t count = 0, best;

	for (int64_t i = 0; i < search->best.count && i < search->in->beam; i++)
		sets[count++] = search->best.sets[i];
	best = count;
	for (int64_t i = 0; i < search->order.count; i++) {
		int known = 0;

		for (int64_t j = 0; j < best; j++)
			known |= sets[j].key == search->order.sets[i].key;
		if (!known)
			sets[count++] = search->order.sets[i];
	}
	return count;
}

static int64_t searched(struct search *search, int32_t *sets, double *coefficients, double *errors)
{
	const struct skelgen_sums *in = search->in;
	struct set parents[2 * LONGEST] = {{0}};
	int64_t found = 0, extended = 1;

	for (int size = 1; size <= in->most; size++) {
		search->best.count = search->order.count = 0;
		for (int64_t i = 0; i < extended; i++)
			extend(search, &parents[i], size);
		for (int64_t i = 0; i < search->best.count; i++) {
			const struct set *set = &search->best.sets[i];

			if (!fitted(search, set, size, coefficients + MOST * found, errors + found))
				continue;
			for (int j = 0; j < MOST; j++)
				sets[MOST * found + j] = j < size ? set->column[j] : -1;
			found++;
		}
		extended = chosen(search, parents);
	}
	return found;
}

/*
 * Returns how many sets were found, at most kept of each size, in the order of sizes and of
 * what they leave over; -1 without memory, -2 when more is asked for than there is room.
 * A set has 4 places; -1 stands where it has fewer columns.
 */
int64_t skelgen_sums(const struct skelgen_sums *in, int32_t *sets, double *coefficients,
		     double *errors)
{
	struct search *search;
	int64_t found = NO_MEMORY;

	if (in->most > MOST || in->kept > LONGEST || in->beam > LONGEST || in->others > LONGEST)
		return TOO_LARGE;
	search = calloc(1, sizeof(*search));
	if (!search)
		return NO_MEMORY;
	search->in = in;
	search->best.most = in->kept;
	search->order.most = in->others;
	for (int64_t i = 0; i < in->count; i++)
		search->any_messages |= in->kind[i] & MESSAGES;
	for (int i = 0; i < MOST; i++)
		search->power[i] = i ? search->power[i - 1] * (uint64_t)in->count : 1;
	search->q = malloc((size_t)in->runs * MOST * sizeof(double) + 1);
	search->left = malloc((size_t)in->runs * sizeof(double) + 1);
	if (search->q && search->left)
		found = searched(search, sets, coefficients, errors);
	free(search->q);
	free(search->left);
	free(search);
	return found;
}
