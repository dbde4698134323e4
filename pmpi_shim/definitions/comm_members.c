/* SPDX-License-Identifier: BSD-3-Clause */
/* Who belongs to a communicator: its definition. */
#include "definitions/comm_members.h"

#include "base/map.h"
#include "base/mpi_library.h"
#include "encode/varint.h"

#include <stdlib.h>

static MPI_Group world_group;
static struct skelgen_map twins; /* hash of the groups -> communicators so far */

void skelgen_members_open(void)
{
	pmpi.Comm_group(mpi.comm_world, &world_group);
}

/* Let go of what MPI must not find in use at Finalize. */
void skelgen_members_finalize(void)
{
	pmpi.Group_free(&world_group);
}

void skelgen_members_close(void)
{
	skelgen_map_close(&twins);
}

/* The world ranks of a group; the caller frees them. */
static int *world_ranks(MPI_Group group, int *size)
{
	int *ranks;
	int *world;

	pmpi.Group_size(group, size);
	ranks = malloc(2 * ((size_t)*size + 1) * sizeof(*ranks));
	if (!ranks)
		return NULL;
	world = ranks + *size;
	for (int i = 0; i < *size; i++)
		ranks[i] = i;
	pmpi.Group_translate_ranks(group, *size, ranks, world_group, world);
	for (int i = 0; i < *size; i++)
		ranks[i] = world[i] < 0 ? -1 : world[i];
	return ranks;
}

static uint8_t *put_group(uint8_t *p, const int *ranks, int size)
{
	p = skelgen_put_varint(p, (uint64_t)size);
	for (int i = 0; i < size;) {
		int stride = i + 1 < size ? ranks[i + 1] - ranks[i] : 0;
		int length = i + 1 < size ? 2 : 1;

		while (i + length < size && ranks[i + length] - ranks[i + length - 1] == stride)
			length++;
		p = skelgen_put_zigzag(p, ranks[i]);
		p = skelgen_put_zigzag(p, stride);
		p = skelgen_put_varint(p, (uint64_t)length);
		i += length;
	}
	return p;
}

/* How many communicators with these groups (in either order) were seen before. */
static uint64_t count_twin(const int *own, int size, const int *remote, int remote_size)
{
	uint64_t first = 1;
	uint64_t second = 1;
	uint64_t key;
	uint64_t *known;
	uint64_t before;

	for (int i = 0; i < size; i++)
		first = skelgen_mix(first, (uint64_t)own[i]);
	for (int i = 0; i < remote_size; i++)
		second = skelgen_mix(second, (uint64_t)remote[i]);
	key = skelgen_mix((uint64_t)size + (uint64_t)remote_size, first + second);
	known = skelgen_map_find(&twins, key);
	before = known ? *known : 0;
	skelgen_map_set(&twins, key, before + 1);
	return before;
}

/* Write down a communicator's definition. `like` has its groups and topology. */
bool skelgen_comm_describe(struct skelgen_comm *comm, enum skelgen_comm_kind kind, MPI_Comm like,
			   int parent, uint32_t sequence)
{
	MPI_Group group;
	int inter = -1;
	int remote_size = 0;
	int *own;
	int *remote = NULL;
	uint8_t *p;

	/* A call with a wrong handle has failed: what is asked about it fails too (silent_query.c).
	 */
	if (pmpi.Comm_test_inter(like, &inter) != MPI_SUCCESS || inter < 0 ||
	    pmpi.Comm_group(like, &group) != MPI_SUCCESS)
		return false;
	pmpi.Group_rank(group, &comm->rank);
	own = world_ranks(group, &comm->size);
	pmpi.Group_free(&group);
	if (inter) {
		pmpi.Comm_remote_group(like, &group);
		remote = world_ranks(group, &remote_size);
		pmpi.Group_free(&group);
	}
	comm->inter = inter;
	comm->peers = inter ? remote_size : comm->size;
	skelgen_neighbours_find(like, comm->rank, &comm->around);
	/* 20 bytes cover three numbers of a run; further 8 numbers. */
	comm->payload = malloc(20 * ((size_t)comm->size + (size_t)remote_size) + 80 +
			       skelgen_topology_bytes(&comm->around));
	if (!own || (inter && !remote) || !comm->payload) {
		free(own);
		free(remote);
		return false;
	}
	p = skelgen_put_varint(comm->payload, (uint64_t)comm->id);
	p = skelgen_put_varint(p, kind);
	p = skelgen_put_zigzag(p, parent);
	p = skelgen_put_varint(p, sequence);
	p = skelgen_put_varint(p, count_twin(own, comm->size, remote, remote_size));
	p = skelgen_put_zigzag(p, comm->rank);
	p = put_group(p, own, comm->size);
	p = put_group(p, remote, remote_size);
	p = skelgen_put_topology(p, like, &comm->around);
	comm->payload_bytes = (size_t)(p - comm->payload);
	free(own);
	free(remote);
	return true;
}
