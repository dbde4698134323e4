/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts that know MPI's objects share: object.c, members.c, promise.c, type.c, message.c,
 * unheard.c.
 */
#ifndef SKELGEN_OBJECT_H
#define SKELGEN_OBJECT_H

#include "recorder.h"

#define KEY(handle) ((uint64_t)(uintptr_t)(handle) + 1) /* maps do not take 0 */

struct skelgen_comm *skelgen_comm_add(enum skelgen_comm_kind kind, MPI_Comm like, int parent,
				      uint32_t sequence);
void skelgen_comm_name(struct skelgen_comm *comm, MPI_Comm handle);
uint64_t skelgen_comm_keep(MPI_Comm handle);

bool skelgen_comm_describe(struct skelgen_comm *comm, enum skelgen_comm_kind kind, MPI_Comm like,
			   int parent, uint32_t sequence);
void skelgen_members_open(void);
void skelgen_members_close(void);

void skelgen_promises_close(void);

void skelgen_ops_open(void);
void skelgen_types_close(void);

void skelgen_messages_close(void);

/* Between these two MPI may be asked about a handle that may be wrong. */
struct skelgen_unheard {
	MPI_Errhandler world;
	MPI_Errhandler self;
};
struct skelgen_unheard skelgen_ask(void);
void skelgen_asked(struct skelgen_unheard own);

#endif
