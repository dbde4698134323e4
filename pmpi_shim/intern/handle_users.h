/* SPDX-License-Identifier: BSD-3-Clause */
/* Which shapes have a handle. */
#ifndef SKELGEN_HANDLE_USERS_H
#define SKELGEN_HANDLE_USERS_H

#include "base/state.h"

void skelgen_use_handles(struct skelgen_stream *s, struct skelgen_shape *shape,
			 const struct skelgen_call *call);
void skelgen_handle_freed(uint64_t handle);
void skelgen_shapes_forget(struct skelgen_stream *s, uint64_t handle);

#endif
