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
	int combiner;
	int number_count;
	int address_count;
	int type_count;
	int *numbers;
	MPI_Aint *addresses;
	MPI_Datatype *types;
};

/*
 * The library's combiner. MPI_Type_get_envelope() is an error for types that were made with large
 * counts; libraries older than MPI 4 have neither such types nor the other function. Of types with
 * large counts only the combiner is told.
 */
static struct contents envelope(MPI_Datatype type)
{
	int (*large)(MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *);
	MPI_Count counts[4] = {0};
	struct contents found = {.combiner = MPI_COMBINER_NAMED};

	*(void **)&large = skelgen_symbol("PMPI_Type_get_envelope_c");
	if (!large) {
		pmpi.Type_get_envelope(type, &found.number_count, &found.address_count,
				       &found.type_count, &found.combiner);
		return found;
	}
	large(type, &counts[0], &counts[1], &counts[2], &counts[3], &found.combiner);
	if (!counts[2] && counts[0] <= MOST_NUMBERS && counts[1] <= MOST_NUMBERS &&
	    counts[3] <= MOST_NUMBERS) {
		found.number_count = (int)counts[0];
		found.address_count = (int)counts[1];
		found.type_count = (int)counts[3];
	}
	return found;
}

int skelgen_combiner_of(MPI_Datatype type)
{
	return envelope(type).combiner;
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

	switch (made->combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		return in_blocks(made->types[0], 1, 1, depth);
	case MPI_COMBINER_CONTIGUOUS:
		return in_blocks(made->types[0], 1, n[0], depth);
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		return in_blocks(made->types[0], n[0], (int64_t)n[0] * n[1], depth);
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_STRUCT:
		return in_uneven_blocks(made, depth);
	case MPI_COMBINER_SUBARRAY:
		return in_subarray(made, depth);
	default:
		return 0;
	}
}

/* Whether a program made the type: only handles of those are given back. */
static bool is_made(int combiner)
{
	switch (combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
	case MPI_COMBINER_CONTIGUOUS:
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_STRUCT:
	case MPI_COMBINER_SUBARRAY:
	case MPI_COMBINER_DARRAY:
		return true;
	default:
		return false;
	}
}

/* Give back the handles that MPI_Type_get_contents() returned. */
static void give_back(const struct contents *made)
{
	for (int i = 0; i < made->type_count; i++)
		if (is_made(skelgen_combiner_of(made->types[i])))
			pmpi.Type_free(&made->types[i]);
}

/* In how many pieces an element lies in memory; 0: not known. */
static int64_t pieces_of(MPI_Datatype type, int depth)
{
	struct contents made = envelope(type);
	int64_t found = 0;

	if (made.combiner == MPI_COMBINER_NAMED)
		return 1;
	if (depth >= DEEPEST || !made.type_count || !is_made(made.combiner) ||
	    made.number_count > MOST_NUMBERS || made.address_count > MOST_NUMBERS ||
	    made.type_count > MOST_NUMBERS)
		return 0;
	made.numbers = calloc((size_t)made.number_count + 1, sizeof(*made.numbers));
	made.addresses = calloc((size_t)made.address_count + 1, sizeof(*made.addresses));
	made.types = calloc((size_t)made.type_count, sizeof(*made.types));
	if (made.numbers && made.addresses && made.types &&
	    pmpi.Type_get_contents(type, made.number_count, made.address_count, made.type_count,
				   made.numbers, made.addresses, made.types) == MPI_SUCCESS) {
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
