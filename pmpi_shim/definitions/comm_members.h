/* SPDX-License-Identifier: BSD-3-Clause */
/* Who belongs to a communicator, and what else is known of it. */
#ifndef SKELGEN_COMM_MEMBERS_H
#define SKELGEN_COMM_MEMBERS_H

#include "definitions/topology.h"

struct skelgen_comm {
	uint64_t handle;
	int32_t id;
	int rank;
	int size;  /* of the local group */
	int peers; /* size of the group that peers are ranks of */
	bool inter;
	struct skelgen_neighbours around;
	uint32_t sequence; /* collective creating calls so far */
	bool kept;         /* to the end, for messages: known by its address as well */
	uint8_t *payload;  /* its definition */
	uint8_t *detail;   /* of a window or file: a further one */
	size_t detail_bytes;
	uint32_t detail_tag;
	size_t payload_bytes;
};
bool skelgen_comm_describe(struct skelgen_comm *comm, enum skelgen_comm_kind kind, MPI_Comm like,
			   int parent, uint32_t sequence);
void skelgen_members_open(void);
void skelgen_members_finalize(void);
void skelgen_members_close(void);

#endif
