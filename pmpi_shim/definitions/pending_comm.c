/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators whose handle is known when a request completes (Comm_idup). */
#include "definitions/pending_comm.h"

#include "base/map.h"
#include "definitions/comm_members.h"
#include "definitions/communicator.h"
#include "event/event.h"

#include <stdlib.h>

struct promise {
	struct skelgen_comm *comm;
	const void *where;
	bool fortran; /* whose handle it is */
};

static struct skelgen_map promises; /* request -> struct promise */

void skelgen_promises_close(void)
{
	skelgen_map_close(&promises);
}

/* Comm_idup: the members are known now, the handle when the request completes. */
static void comm_promise(struct skelgen_stream *s, MPI_Comm parent, const void *where, bool fortran)
{
	struct skelgen_comm *of = skelgen_comm_find(parent);
	struct promise *promise = malloc(sizeof(*promise));
	uint64_t key = ((uint64_t)s->thread + 1) << 48 | (s->requests + 1);

	if (!of || !promise) {
		free(promise);
		return;
	}
	promise->where = where;
	promise->fortran = fortran;
	promise->comm = skelgen_comm_add(SKELGEN_COMM_DUP, parent, of->id, of->sequence++);
	if (!promise->comm || skelgen.paused) {
		free(promise);
		return;
	}
	skelgen_map_set(&promises, key, (uintptr_t)promise);
	skelgen_comm_define(s, of->id);
	skelgen_comm_define(s, promise->comm->id);
	skelgen_object(s, (uint32_t)promise->comm->id);
}

void skelgen_comm_promise(struct skelgen_stream *s, MPI_Comm parent, MPI_Comm *where)
{
	skelgen_lock();
	comm_promise(s, parent, where, false);
	skelgen_unlock();
}

void skelgen_comm_promise_fortran(struct skelgen_stream *s, MPI_Comm parent, const MPI_Fint *where)
{
	skelgen_lock();
	comm_promise(s, parent, where, true);
	skelgen_unlock();
}

/* The request with this number (and its thread + 1 above bit 48) is complete. */
void skelgen_comm_fulfil(uint64_t request)
{
	uint64_t *known = skelgen_map_find(&promises, request);
	struct promise *promise;
	MPI_Comm handle;

	if (!known)
		return;
	promise = (struct promise *)(uintptr_t)*known;
	skelgen_map_remove(&promises, request);
	handle = promise->fortran ? skelgen_f2c(Comm, promise->where)
				  : *(const MPI_Comm *)promise->where;
	if (handle != mpi.comm_null)
		skelgen_comm_name(promise->comm, handle);
	free(promise);
}
