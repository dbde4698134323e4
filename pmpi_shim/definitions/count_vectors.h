/* SPDX-License-Identifier: BSD-3-Clause */
/* The count vectors of collectives such as Alltoallv and of neighbourhoods. */
#ifndef SKELGEN_COUNT_VECTORS_H
#define SKELGEN_COUNT_VECTORS_H

#include "definitions/topology.h"

/* Size and place in a communicator, as far as collectives need them. */
struct skelgen_view {
	int rank;
	int size;
	int peers;
	bool inter;
	struct skelgen_neighbours around; /* its ranks belong to the communicator */
};

struct skelgen_view skelgen_view(MPI_Comm comm, bool succeeded);
/*
 * Vectors of n counts, or of bytes, where types with holes set a flag. With `ranks` those of
 * MPI_PROC_NULL are left out: nothing is sent there.
 */
uint32_t skelgen_counts_int(struct skelgen_stream *s, const int counts[], size_t n,
			    const int ranks[]);
uint32_t skelgen_counts_large(struct skelgen_stream *s, const MPI_Count counts[], size_t n,
			      const int ranks[]);
uint32_t skelgen_bytes_int(struct skelgen_stream *s, const int counts[], const MPI_Datatype types[],
			   size_t n, const int ranks[], uint32_t *flags);
uint32_t skelgen_bytes_large(struct skelgen_stream *s, const MPI_Count counts[],
			     const MPI_Datatype types[], size_t n, const int ranks[],
			     uint32_t *flags);
uint32_t skelgen_equal_counts(struct skelgen_stream *s, int64_t count, size_t n, const int ranks[]);
#define skelgen_counts(s, counts, n, ranks)                                                 \
	_Generic((counts), const int *: skelgen_counts_int, default: skelgen_counts_large)( \
		s, counts, n, ranks)
#define skelgen_counted_bytes(s, counts, types, n, ranks, flags)                          \
	_Generic((counts), const int *: skelgen_bytes_int, default: skelgen_bytes_large)( \
		s, counts, types, n, ranks, flags)

#endif
