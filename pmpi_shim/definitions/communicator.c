/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, windows and files: from handles to ids. */
#include "definitions/communicator.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mpi_library.h"
#include "definitions/silent_query.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"
#include "event/event.h"
#include "intern/handle_users.h"
#include "intern/interned.h"
#include "intern/shape.h"

#include <stdlib.h>

static struct skelgen_map comm_of_handle; /* -> struct skelgen_comm */

static struct skelgen_comm **comms; /* by id; NULL: freed */
static size_t comm_count;
static size_t comm_room;

static void free_comm(struct skelgen_comm *comm)
{
	free(comm->around.ranks);
	free(comm->payload);
	free(comm->detail);
	free(comm);
}

/* Give a new communicator an id; NULL when memory is short. */
struct skelgen_comm *skelgen_comm_add(enum skelgen_comm_kind kind, MPI_Comm like, int parent,
				      uint32_t sequence)
{
	struct skelgen_comm *comm = calloc(1, sizeof(*comm));
	struct skelgen_unheard own;
	bool described;

	if (!comm || !skelgen_room((void **)&comms, &comm_room, comm_count + 1, sizeof(*comms))) {
		free(comm);
		return NULL;
	}
	comm->id = (int32_t)comm_count;
	own = skelgen_ask();
	described = skelgen_comm_describe(comm, kind, like, parent, sequence);
	skelgen_asked(own);
	if (!described) {
		free_comm(comm);
		return NULL;
	}
	comms[comm_count++] = comm;
	return comm;
}

void skelgen_comm_name(struct skelgen_comm *comm, MPI_Comm handle)
{
	comm->handle = (uint64_t)(uintptr_t)handle;
	skelgen_map_set(&comm_of_handle, SKELGEN_KEY(handle), (uintptr_t)comm);
}

/* MPI's own two communicators; false when memory is short. */
bool skelgen_comms_open(void)
{
	struct skelgen_comm *world = skelgen_comm_add(SKELGEN_COMM_WORLD, mpi.comm_world, -1, 0);
	struct skelgen_comm *self = skelgen_comm_add(SKELGEN_COMM_SELF, mpi.comm_self, -1, 0);

	if (!world || !self)
		return false;
	skelgen_comm_name(world, mpi.comm_world);
	skelgen_comm_name(self, mpi.comm_self);
	return true;
}

/* The communicator, window or file that this thread is about to free. */
static __thread struct skelgen_comm *retired __attribute__((tls_model("initial-exec")));

/* What is known about a window or file; NULL when nobody saw how it was made. */
struct skelgen_comm *skelgen_object_find(uint64_t handle)
{
	uint64_t *known = skelgen_map_find(&comm_of_handle, handle + 1);

	if (unlikely(retired) && retired->handle == handle)
		return retired;
	return known ? (struct skelgen_comm *)(uintptr_t)*known : NULL;
}

/* What is known about a communicator; one that an unwrapped call made is defined now. */
struct skelgen_comm *skelgen_comm_find(MPI_Comm handle)
{
	struct skelgen_comm *comm = skelgen_object_find((uint64_t)(uintptr_t)handle);

	if (comm || handle == mpi.comm_null)
		return comm;
	comm = skelgen_comm_add(SKELGEN_COMM_UNKNOWN, handle, -1, 0);
	if (comm)
		skelgen_comm_name(comm, handle);
	return comm;
}

/* Keep what is known about a communicator to the end; what leads to it beside its handle. */
uint64_t skelgen_comm_keep(MPI_Comm handle)
{
	struct skelgen_comm *comm = skelgen_comm_find(handle);

	if (!comm)
		return 0;
	if (!comm->kept)
		skelgen_map_set(&comm_of_handle, SKELGEN_KEY(comm), (uintptr_t)comm);
	comm->kept = true;
	return (uintptr_t)comm;
}

/* The lock is held. */
static void drop(struct skelgen_comm *comm)
{
	if (comm->kept)
		return;
	comms[comm->id] = NULL;
	free_comm(comm);
}

/*
 * A communicator, window or file is being freed while no event is recorded, such as by a callback
 * that MPI calls.
 */
void skelgen_dropped(uint64_t handle)
{
	uint64_t *known;

	if (!skelgen.recording)
		return;
	skelgen_lock();
	known = skelgen_map_find(&comm_of_handle, handle + 1);
	if (known) {
		struct skelgen_comm *comm = (struct skelgen_comm *)(uintptr_t)*known;

		skelgen_map_remove(&comm_of_handle, handle + 1);
		skelgen_handle_freed(handle);
		drop(comm);
	}
	skelgen_unlock();
}

/*
 * A communicator, window or file is about to be freed. Once it is, another thread may be given
 * its handle, so nothing is found by it from here on but by this thread, whose event is to come.
 */
void skelgen_retire(uint64_t handle)
{
	skelgen_lock();
	retired = skelgen_object_find(handle);
	if (retired) {
		skelgen_map_remove(&comm_of_handle, handle + 1);
		skelgen_handle_freed(handle);
	}
	skelgen_unlock();
}

/* The call has returned, and its event is written. */
void skelgen_retired(struct skelgen_stream *s, bool freed)
{
	struct skelgen_comm *comm = retired;

	retired = NULL;
	if (!comm)
		return;
	skelgen_lock();
	skelgen_shapes_forget(s, comm->handle);
	if (freed)
		drop(comm);
	else
		skelgen_map_set(&comm_of_handle, comm->handle + 1, (uintptr_t)comm);
	skelgen_unlock();
}

/* Whether all members of the new communicator see the same calls on the parent. */
static bool collective_on_parent(enum skelgen_comm_kind kind)
{
	return kind != SKELGEN_COMM_CREATE_GROUP && kind != SKELGEN_COMM_INTER;
}

static void comm_created(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			 MPI_Comm created)
{
	struct skelgen_comm *of = skelgen_comm_find(parent);
	bool collective = of && collective_on_parent(kind);
	uint32_t sequence = collective ? of->sequence++ : 0;
	struct skelgen_comm *comm;

	if (created == mpi.comm_null)
		return;
	comm = skelgen_comm_add(kind, created, collective ? of->id : -1, sequence);
	if (!comm)
		return;
	skelgen_comm_name(comm, created);
	if (collective && !skelgen.paused)
		skelgen_comm_define(s, of->id);
	if (!skelgen.paused)
		skelgen_comm_define(s, comm->id);
	skelgen_object(s, (uint32_t)comm->id);
}

void skelgen_comm_created(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			  MPI_Comm created)
{
	skelgen_lock();
	comm_created(s, kind, parent, created);
	skelgen_unlock();
}

/* Keep the further definition of a window or file, behind its id. */
static void note_detail(struct skelgen_comm *comm, enum skelgen_record_tag tag,
			const uint8_t *detail, size_t bytes)
{
	uint8_t *p;

	comm->detail = malloc(bytes + 10);
	if (!comm->detail)
		return;
	p = skelgen_put_varint(comm->detail, (uint64_t)comm->id);
	memcpy(p, detail, bytes);
	comm->detail_bytes = (size_t)(p - comm->detail) + bytes;
	comm->detail_tag = tag;
}

static void object_made(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			uint64_t handle, enum skelgen_record_tag tag, const uint8_t *detail,
			size_t bytes)
{
	struct skelgen_comm *of = skelgen_comm_find(parent);
	struct skelgen_comm *made =
		of ? skelgen_comm_add(kind, parent, of->id, of->sequence++) : NULL;

	if (!made)
		return;
	note_detail(made, tag, detail, bytes);
	made->handle = handle;
	skelgen_map_set(&comm_of_handle, handle + 1, (uintptr_t)made);
	if (!skelgen.paused) {
		skelgen_comm_define(s, of->id);
		skelgen_comm_define(s, made->id);
	}
	skelgen_object(s, (uint32_t)made->id);
}

/*
 * A communicator's members made a window or file. It has an id of its own among communicators:
 * its group and its sequence of collective calls are what it has in common with them.
 */
void skelgen_object_made(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			 uint64_t handle, enum skelgen_record_tag tag, const uint8_t *detail,
			 size_t bytes)
{
	skelgen_lock();
	object_made(s, kind, parent, handle, tag, detail, bytes);
	skelgen_unlock();
}

void skelgen_comm_define(struct skelgen_stream *s, int32_t id)
{
	struct skelgen_comm *comm = comms[id];

	if (!comm || skelgen_defined(s, SKELGEN_REC_COMM, (uint32_t)id))
		return;
	skelgen_define(s, SKELGEN_REC_COMM, comm->payload, comm->payload_bytes);
	if (comm->detail)
		skelgen_define(s, (enum skelgen_record_tag)comm->detail_tag, comm->detail,
			       comm->detail_bytes);
}

void skelgen_comms_close(void)
{
	for (size_t i = 0; i < comm_count; i++)
		if (comms[i])
			free_comm(comms[i]);
	free(comms);
	comms = NULL;
	comm_count = comm_room = 0;
	skelgen_map_close(&comm_of_handle);
}
