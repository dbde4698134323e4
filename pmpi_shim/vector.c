/* SPDX-License-Identifier: BSD-3-Clause */
/* The count vectors of collectives such as Alltoallv. */
#include "wrap.h"

struct skelgen_view skelgen_view(MPI_Comm handle)
{
	struct skelgen_comm *comm;
	struct skelgen_view view = {0};

	skelgen_lock();
	comm = skelgen_comm_find(handle);
	if (comm)
		view = (struct skelgen_view){comm->rank, comm->size, comm->peers, comm->inter};
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

uint32_t skelgen_counts_int(struct skelgen_stream *s, const int counts[], size_t n)
{
	int64_t *numbers = scratch(s, n);

	if (!numbers)
		return 0;
	for (size_t i = 0; i < n; i++)
		numbers[i] = counts[i];
	return skelgen_vector(s, numbers, n);
}

uint32_t skelgen_counts_large(struct skelgen_stream *s, const MPI_Count counts[], size_t n)
{
	int64_t *numbers = scratch(s, n);

	if (!numbers)
		return 0;
	for (size_t i = 0; i < n; i++)
		numbers[i] = counts[i];
	return skelgen_vector(s, numbers, n);
}

/* Bytes of `count` elements; runs of equal types are asked for once. */
static int64_t bytes_of(MPI_Datatype type, int64_t count, MPI_Datatype *last, MPI_Count *size)
{
	if (!count || type == mpi.datatype_null)
		return 0;
	if (type != *last) {
		pmpi.Type_size_x(type, size);
		*last = type;
	}
	return count * *size;
}

uint32_t skelgen_bytes_int(struct skelgen_stream *s, const int counts[], const MPI_Datatype types[],
			   size_t n)
{
	int64_t *numbers = scratch(s, n);
	MPI_Datatype last = mpi.datatype_null;
	MPI_Count size = 0;

	if (!numbers)
		return 0;
	for (size_t i = 0; i < n; i++)
		numbers[i] = bytes_of(types[i], counts[i], &last, &size);
	return skelgen_vector(s, numbers, n);
}

uint32_t skelgen_bytes_large(struct skelgen_stream *s, const MPI_Count counts[],
			     const MPI_Datatype types[], size_t n)
{
	int64_t *numbers = scratch(s, n);
	MPI_Datatype last = mpi.datatype_null;
	MPI_Count size = 0;

	if (!numbers)
		return 0;
	for (size_t i = 0; i < n; i++)
		numbers[i] = bytes_of(types[i], counts[i], &last, &size);
	return skelgen_vector(s, numbers, n);
}
