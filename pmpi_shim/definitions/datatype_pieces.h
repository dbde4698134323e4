/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces of memory that a datatype consists of. */
#ifndef SKELGEN_DATATYPE_PIECES_H
#define SKELGEN_DATATYPE_PIECES_H

#include "base/state.h"

enum skelgen_combiner skelgen_combiner_of(MPI_Datatype type);
bool skelgen_contiguous(MPI_Datatype type);
int64_t skelgen_piece_bytes(MPI_Datatype type);

#endif
