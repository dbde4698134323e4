/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes and operations: from handles to ids. */
#ifndef SKELGEN_DATATYPE_H
#define SKELGEN_DATATYPE_H

#include "base/state.h"

void skelgen_type_freed(MPI_Datatype type);
int64_t skelgen_type_piece(MPI_Datatype type);
uint32_t skelgen_type_id(struct skelgen_stream *s, uint64_t handle, bool ask);
uint32_t skelgen_op_code(uint64_t handle, bool ask);
void skelgen_ops_open(void);
void skelgen_types_close(void);

#endif
