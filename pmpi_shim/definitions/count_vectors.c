/* SPDX-License-Identifier: BSD-3-Clause */
/* The count vectors of collectives such as Alltoallv and of neighbourhoods. */
#include "definitions/count_vectors.h"

#include "base/array.h"
#include "base/mpi_library.h"
#include "definitions/comm_members.h"
#include "definitions/communicator.h"
#include "definitions/datatype.h"
#include "definitions/datatype_pieces.h"
#include "intern/interned.h"

/* Of a call that failed nothing is viewed: its arrays may be wrong as well. */
struct skelgen_view skelgen_view(MPI_Comm handle, bool succeeded)
{
	struct skelgen_comm *comm;
	struct skelgen_view view = {0};

	if (!succeeded)
		return view;
	skelgen_lock();
	comm = skelgen_comm_find(handle);
	if (comm)
		view = (struct skelgen_view){comm->rank, comm->size, comm->peers, comm->inter,
					     comm->around};
	skelgen_unlock();
	return view;
}

/* Room for n numbers in the stream's scratch; NULL when memory is short. */
static int64_t *scratch(struct skelgen_stream *s, size_t n)
{
	if (!skelgen_room((void **)&s->ages, &s->ages_room, n, sizeof(*s->ages)))
		return NULL;
	return s->ages;
}

static bool left_out(const int ranks[], size_t i)
{
	return ranks && ranks[i] == MPI_PROC_NULL;
}

uint32_t skelgen_counts_int(struct skelgen_stream *s, const int counts[], size_t n,
			    const int ranks[])
{
	int64_t *numbers = scratch(s, n);
	size_t used = 0;

	if (!numbers)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!left_out(ranks, i))
			numbers[used++] = counts[i];
	return skelgen_vector(s, numbers, used);
}

uint32_t skelgen_counts_large(struct skelgen_stream *s, const MPI_Count counts[], size_t n,
			      const int ranks[])
{
	int64_t *numbers = scratch(s, n);
	size_t used = 0;

	if (!numbers)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!left_out(ranks, i))
			numbers[used++] = counts[i];
	return skelgen_vector(s, numbers, used);
}

uint32_t skelgen_equal_counts(struct skelgen_stream *s, int64_t count, size_t n, const int ranks[])
{
	int64_t *numbers = scratch(s, n);
	size_t used = 0;

	if (!numbers)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!left_out(ranks, i))
			numbers[used++] = count;
	return skelgen_vector(s, numbers, used);
}

/* What is known about the types of a vector: runs of equal ones are asked for once. */
struct known {
	MPI_Datatype last;
	MPI_Count size;
	bool holes;     /* of the last type */
	bool any_holes; /* of any type */
	int64_t piece;  /* of the last type [bytes] */
	double bytes;   /* with holes between them, */
	double pieces;  /* and in how many pieces */
};

static int64_t bytes_of(MPI_Datatype type, int64_t count, struct known *known)
{
	if (!count || type == mpi.datatype_null)
		return 0;
	if (type != known->last) {
		pmpi.Type_size_x(type, &known->size);
		known->holes = !skelgen_contiguous(type);
		known->piece = known->holes ? skelgen_type_piece(type) : 0;
		known->last = type;
	}
	known->any_holes |= known->holes;
	if (known->piece) {
		known->bytes += (double)count * (double)known->size;
		known->pieces += (double)count * (double)known->size / (double)known->piece;
	}
	return count * known->size;
}

/* Note that bytes have holes between them, and the smaller pieces of the two sides of a call. */
static void note_holes(const struct known *known, uint32_t *flags)
{
	uint32_t before = *flags >> SKELGEN_PIECE_SHIFT & SKELGEN_PIECE_MASK;
	uint32_t piece = 0;

	if (!known->any_holes)
		return;
	for (double bytes = known->pieces > 0 ? known->bytes / known->pieces : 0;
	     bytes >= 2 && piece < SKELGEN_PIECE_MASK; bytes /= 2)
		piece++;
	if (*flags & SKELGEN_SHAPE_HOLES && before < piece)
		piece = before;
	*flags &= ~((uint32_t)SKELGEN_PIECE_MASK << SKELGEN_PIECE_SHIFT);
	*flags |= SKELGEN_SHAPE_HOLES | piece << SKELGEN_PIECE_SHIFT;
}

uint32_t skelgen_bytes_int(struct skelgen_stream *s, const int counts[], const MPI_Datatype types[],
			   size_t n, const int ranks[], uint32_t *flags)
{
	int64_t *numbers = scratch(s, n);
	struct known known = {.last = mpi.datatype_null};
	size_t used = 0;

	if (!numbers)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!left_out(ranks, i))
			numbers[used++] = bytes_of(types[i], counts[i], &known);
	note_holes(&known, flags);
	return skelgen_vector(s, numbers, used);
}

uint32_t skelgen_bytes_large(struct skelgen_stream *s, const MPI_Count counts[],
			     const MPI_Datatype types[], size_t n, const int ranks[],
			     uint32_t *flags)
{
	int64_t *numbers = scratch(s, n);
	struct known known = {.last = mpi.datatype_null};
	size_t used = 0;

	if (!numbers)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!left_out(ranks, i))
			numbers[used++] = bytes_of(types[i], counts[i], &known);
	note_holes(&known, flags);
	return skelgen_vector(s, numbers, used);
}
