/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, windows and files: from handles to ids. */
#ifndef SKELGEN_COMMUNICATOR_H
#define SKELGEN_COMMUNICATOR_H

#include "definitions/comm_members.h"

#define SKELGEN_KEY(handle) ((uint64_t)(uintptr_t)(handle) + 1) /* maps do not take 0 */

struct skelgen_comm *skelgen_comm_add(enum skelgen_comm_kind kind, MPI_Comm like, int parent,
				      uint32_t sequence);
void skelgen_comm_name(struct skelgen_comm *comm, MPI_Comm handle);
uint64_t skelgen_comm_keep(MPI_Comm handle);
bool skelgen_comms_open(void);
void skelgen_comms_close(void);
void skelgen_dropped(uint64_t handle);
void skelgen_retire(uint64_t handle);
void skelgen_retired(struct skelgen_stream *s, bool freed);
struct skelgen_comm *skelgen_comm_find(MPI_Comm comm);
void skelgen_comm_created(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			  MPI_Comm created);
void skelgen_comm_define(struct skelgen_stream *s, int32_t id);
struct skelgen_comm *skelgen_object_find(uint64_t handle);
void skelgen_object_made(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			 uint64_t handle, enum skelgen_record_tag tag, const uint8_t *detail,
			 size_t bytes);

#endif
