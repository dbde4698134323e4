/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pieces of memory that a datatype consists of: MPI gathers a message from them, one by one, so
 * their size decides what that costs. They are counted by the calls that made the type.
 */
#include "definitions/datatype_pieces.h"

#include "base/mpi_library.h"

#include <stdlib.h>

/* Types of more numbers are not looked at, nor are types of types of types beyond this depth. */
enum { MOST_NUMBERS = 1 << 16, DEEPEST = 8 };

/* How a type was made: numbers, and the types that it consists of. */
struct contents {
	int combiner; /* as the library calls it */
	MPI_Count number_count;
	MPI_Count address_count;
	MPI_Count large_count;
	MPI_Count type_count;
	int *numbers;
	MPI_Aint *addresses;
	MPI_Datatype *types;
};

/*
 * The library's combiner, and how many numbers and types there are. MPI_Type_get_envelope() is an
 * error for types that were made with large counts; libraries older than MPI 4 have neither such
 * types nor the other function.
 */
static struct contents envelope(MPI_Datatype type)
{
	int (*large)(MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *);
	struct contents made = {.combiner = MPI_COMBINER_NAMED};
	int counts[3] = {0};

	*(void **)&large = skelgen_symbol("PMPI_Type_get_envelope_c");
	if (large) {
		large(type, &made.number_count, &made.address_count, &made.large_count,
		      &made.type_count, &made.combiner);
		return made;
	}
	pmpi.Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &made.combiner);
	made.number_count = counts[0];
	made.address_count = counts[1];
	made.type_count = counts[2];
	return made;
}

static enum skelgen_combiner combiner_of(const struct contents *made)
{
	static const struct {
		int theirs;
		enum skelgen_combiner ours;
	} table[] = {
		{MPI_COMBINER_NAMED, SKELGEN_TYPE_NAMED},
		{MPI_COMBINER_DUP, SKELGEN_TYPE_DUP},
		{MPI_COMBINER_CONTIGUOUS, SKELGEN_TYPE_CONTIGUOUS},
		{MPI_COMBINER_VECTOR, SKELGEN_TYPE_VECTOR},
		{MPI_COMBINER_HVECTOR, SKELGEN_TYPE_HVECTOR},
		{MPI_COMBINER_INDEXED, SKELGEN_TYPE_INDEXED},
		{MPI_COMBINER_HINDEXED, SKELGEN_TYPE_HINDEXED},
		{MPI_COMBINER_INDEXED_BLOCK, SKELGEN_TYPE_INDEXED_BLOCK},
		{MPI_COMBINER_HINDEXED_BLOCK, SKELGEN_TYPE_HINDEXED_BLOCK},
		{MPI_COMBINER_STRUCT, SKELGEN_TYPE_STRUCT},
		{MPI_COMBINER_SUBARRAY, SKELGEN_TYPE_SUBARRAY},
		{MPI_COMBINER_DARRAY, SKELGEN_TYPE_DARRAY},
		{MPI_COMBINER_RESIZED, SKELGEN_TYPE_RESIZED},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].theirs == made->combiner)
			return table[i].ours;
	return SKELGEN_TYPE_OTHER;
}

enum skelgen_combiner skelgen_combiner_of(MPI_Datatype type)
{
	struct contents made = envelope(type);

	return combiner_of(&made);
}

/* Whether a type's bytes have no holes, also between elements. */
bool skelgen_contiguous(MPI_Datatype type)
{
	MPI_Count size = 0;
	MPI_Aint lower = 0;
	MPI_Aint extent = 0;
	MPI_Aint true_lower = 0;
	MPI_Aint true_extent = 0;

	pmpi.Type_size_x(type, &size);
	pmpi.Type_get_extent(type, &lower, &extent);
	pmpi.Type_get_true_extent(type, &true_lower, &true_extent);
	return size == extent && lower == 0 && true_lower == 0 && true_extent == extent;
}

static int64_t pieces_of(MPI_Datatype type, int depth);

/* Pieces of `blocks` blocks with `elements` elements in all; 0: not known. */
static int64_t in_blocks(MPI_Datatype element, int64_t blocks, int64_t elements, int depth)
{
	return skelgen_contiguous(element) ? blocks : elements * pieces_of(element, depth);
}

/* Pieces of blocks of elements, each of a length of its own and of its own type or of one. */
static int64_t in_uneven_blocks(const struct contents *made, int depth)
{
	MPI_Datatype last = mpi.datatype_null;
	bool joins = false;
	int64_t each = 0;
	int64_t sum = 0;

	for (int i = 0; i < made->numbers[0]; i++) {
		int length = made->numbers[1 + i];
		MPI_Datatype element = made->types[made->type_count > 1 ? i : 0];

		if (!length)
			continue;
		if (element != last) {
			joins = skelgen_contiguous(element);
			each = joins ? 1 : pieces_of(element, depth);
			last = element;
		}
		if (!each)
			return 0;
		sum += joins ? 1 : length * each;
	}
	return sum;
}

/* Pieces of a part of an array: dimensions that are whole join those that are faster. */
static int64_t in_subarray(const struct contents *made, int depth)
{
	int dimensions = made->numbers[0];
	const int *sizes = made->numbers + 1;
	const int *parts = sizes + dimensions;
	bool c_order = made->numbers[1 + 3 * dimensions] == MPI_ORDER_C;
	bool joined = true;
	int64_t blocks = 1;
	int64_t elements = 1;

	for (int i = 0; i < dimensions; i++) {
		int at = c_order ? dimensions - 1 - i : i;

		if (!joined)
			blocks *= parts[at];
		joined = joined && parts[at] == sizes[at];
		elements *= parts[at];
	}
	return in_blocks(made->types[0], blocks, elements, depth);
}

static int64_t pieces_in(const struct contents *made, int depth)
{
	const int *n = made->numbers;

	switch (combiner_of(made)) {
	case SKELGEN_TYPE_DUP:
	case SKELGEN_TYPE_RESIZED:
		return in_blocks(made->types[0], 1, 1, depth);
	case SKELGEN_TYPE_CONTIGUOUS:
		return in_blocks(made->types[0], 1, n[0], depth);
	case SKELGEN_TYPE_VECTOR:
	case SKELGEN_TYPE_HVECTOR:
	case SKELGEN_TYPE_INDEXED_BLOCK:
	case SKELGEN_TYPE_HINDEXED_BLOCK:
		return in_blocks(made->types[0], n[0], (int64_t)n[0] * n[1], depth);
	case SKELGEN_TYPE_INDEXED:
	case SKELGEN_TYPE_HINDEXED:
	case SKELGEN_TYPE_STRUCT:
		return in_uneven_blocks(made, depth);
	case SKELGEN_TYPE_SUBARRAY:
		return in_subarray(made, depth);
	default:
		return 0;
	}
}

/* Give back the handles that MPI_Type_get_contents() returned, but not those of MPI's own types. */
static void give_back(const struct contents *made)
{
	for (int i = 0; i < (int)made->type_count; i++) {
		enum skelgen_combiner combiner = skelgen_combiner_of(made->types[i]);

		if (combiner != SKELGEN_TYPE_NAMED && combiner != SKELGEN_TYPE_OTHER)
			pmpi.Type_free(&made->types[i]);
	}
}

/* In how many pieces an element lies in memory; 0: not known. */
static int64_t pieces_of(MPI_Datatype type, int depth)
{
	struct contents made = envelope(type);
	int64_t found = 0;

	if (made.combiner == MPI_COMBINER_NAMED)
		return 1;
	if (depth >= DEEPEST || combiner_of(&made) == SKELGEN_TYPE_OTHER || made.large_count ||
	    !made.type_count || made.number_count > MOST_NUMBERS ||
	    made.address_count > MOST_NUMBERS || made.type_count > MOST_NUMBERS)
		return 0;
	made.numbers = calloc((size_t)made.number_count + 1, sizeof(*made.numbers));
	made.addresses = calloc((size_t)made.address_count + 1, sizeof(*made.addresses));
	made.types = calloc((size_t)made.type_count, sizeof(*made.types));
	if (made.numbers && made.addresses && made.types &&
	    pmpi.Type_get_contents(type, (int)made.number_count, (int)made.address_count,
				   (int)made.type_count, made.numbers, made.addresses,
				   made.types) == MPI_SUCCESS) {
		found = pieces_in(&made, depth + 1);
		give_back(&made);
	}
	free(made.numbers);
	free(made.addresses);
	free(made.types);
	return found;
}

/* Mean size of the pieces in which an element lies in memory [bytes]; 0: not known. */
int64_t skelgen_piece_bytes(MPI_Datatype type)
{
	MPI_Count size = 0;
	int64_t pieces;

	pmpi.Type_size_x(type, &size);
	if (size <= 0)
		return 0;
	pieces = skelgen_contiguous(type) ? 1 : pieces_of(type, 0);
	return pieces > 0 ? (int64_t)size / pieces : 0;
}
