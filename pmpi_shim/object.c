/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, datatypes, operations and matched messages: from handles to ids. */
#include "recorder.h"

#include <stdlib.h>

static struct skelgen_map comm_of_handle;  /* -> struct skelgen_comm */
static struct skelgen_map twins;           /* hash of the groups -> communicators so far */
static struct skelgen_map promises;        /* request -> struct promise */
static struct skelgen_map type_of_handle;  /* -> id */
static struct skelgen_map type_of_content; /* hash -> id */
static struct skelgen_map op_of_handle;    /* -> enum skelgen_op */
static struct skelgen_map messages;        /* handle -> struct skelgen_message */

static struct skelgen_comm **comms; /* by id; NULL: freed */
static size_t comm_count;
static size_t comm_room;

struct definition {
	uint8_t *payload;
	size_t bytes;
};

static struct definition *types; /* by id - 1 */
static size_t type_count;
static size_t type_room;

/* A communicator whose handle is known when a request completes (Comm_idup). */
struct promise {
	struct skelgen_comm *comm;
	const void *where;
	bool fortran; /* whose handle it is */
};

static MPI_Group world_group;

#define KEY(handle) ((uint64_t)(uintptr_t)(handle) + 1) /* maps do not take 0 */

static void note_op(MPI_Op op, enum skelgen_op code)
{
	skelgen_map_set(&op_of_handle, KEY(op), code);
}

static void note_ops(void)
{
	note_op(MPI_MAX, SKELGEN_OP_MAX);
	note_op(MPI_MIN, SKELGEN_OP_MIN);
	note_op(MPI_SUM, SKELGEN_OP_SUM);
	note_op(MPI_PROD, SKELGEN_OP_PROD);
	note_op(MPI_LAND, SKELGEN_OP_LAND);
	note_op(MPI_BAND, SKELGEN_OP_BAND);
	note_op(MPI_LOR, SKELGEN_OP_LOR);
	note_op(MPI_BOR, SKELGEN_OP_BOR);
	note_op(MPI_LXOR, SKELGEN_OP_LXOR);
	note_op(MPI_BXOR, SKELGEN_OP_BXOR);
	note_op(MPI_MINLOC, SKELGEN_OP_MINLOC);
	note_op(MPI_MAXLOC, SKELGEN_OP_MAXLOC);
	note_op(MPI_REPLACE, SKELGEN_OP_REPLACE);
	note_op(MPI_NO_OP, SKELGEN_OP_NO_OP);
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
static bool describe(struct skelgen_comm *comm, enum skelgen_comm_kind kind, MPI_Comm like,
		     int parent, uint32_t sequence)
{
	MPI_Group group;
	int inter = 0;
	int remote_size = 0;
	int *own;
	int *remote = NULL;
	uint8_t *p;

	/* A call with a wrong handle has failed: whatever is asked about it fails too. */
	if (pmpi.Comm_test_inter(like, &inter) != MPI_SUCCESS ||
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

static void free_comm(struct skelgen_comm *comm)
{
	free(comm->around.ranks);
	free(comm->payload);
	free(comm->detail);
	free(comm);
}

/* Give a new communicator an id; NULL when memory is short. */
static struct skelgen_comm *add_comm(enum skelgen_comm_kind kind, MPI_Comm like, int parent,
				     uint32_t sequence)
{
	struct skelgen_comm *comm = calloc(1, sizeof(*comm));

	if (!comm || !skelgen_room((void **)&comms, &comm_room, comm_count + 1, sizeof(*comms))) {
		free(comm);
		return NULL;
	}
	comm->id = (int32_t)comm_count;
	if (!describe(comm, kind, like, parent, sequence)) {
		free_comm(comm);
		return NULL;
	}
	comms[comm_count++] = comm;
	return comm;
}

static void name_comm(struct skelgen_comm *comm, MPI_Comm handle)
{
	comm->handle = (uint64_t)(uintptr_t)handle;
	skelgen_map_set(&comm_of_handle, KEY(handle), (uintptr_t)comm);
}

bool skelgen_objects_open(void)
{
	struct skelgen_comm *world;
	struct skelgen_comm *self;

	pmpi.Comm_group(mpi.comm_world, &world_group);
	note_ops();
	world = add_comm(SKELGEN_COMM_WORLD, mpi.comm_world, -1, 0);
	self = add_comm(SKELGEN_COMM_SELF, mpi.comm_self, -1, 0);
	if (!world || !self)
		return false;
	name_comm(world, mpi.comm_world);
	name_comm(self, mpi.comm_self);
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
	comm = add_comm(SKELGEN_COMM_UNKNOWN, handle, -1, 0);
	if (comm)
		name_comm(comm, handle);
	return comm;
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
	skelgen_forget(s, comm->handle);
	if (freed) {
		comms[comm->id] = NULL;
		free_comm(comm);
	} else {
		skelgen_map_set(&comm_of_handle, comm->handle + 1, (uintptr_t)comm);
	}
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
	comm = add_comm(kind, created, collective ? of->id : -1, sequence);
	if (!comm)
		return;
	name_comm(comm, created);
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
	promise->comm = add_comm(SKELGEN_COMM_DUP, parent, of->id, of->sequence++);
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
		name_comm(promise->comm, handle);
	free(promise);
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
	struct skelgen_comm *made = of ? add_comm(kind, parent, of->id, of->sequence++) : NULL;

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

/* A handle's value may come back with another meaning: no shape may be found by it. */
void skelgen_handle_freed(uint64_t handle)
{
	skelgen_lock();
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next)
		skelgen_forget(s, handle);
	skelgen_unlock();
}

void skelgen_type_freed(MPI_Datatype type)
{
	skelgen_lock();
	skelgen_map_remove(&type_of_handle, KEY(type));
	skelgen_handle_freed((uint64_t)(uintptr_t)type);
	skelgen_unlock();
}

static enum skelgen_combiner combiner_of(MPI_Datatype type)
{
	int integers;
	int addresses;
	int datatypes;
	int combiner;
	static const struct {
		int theirs;
		enum skelgen_combiner ours;
	} table[] = {
		{MPI_COMBINER_NAMED, SKELGEN_TYPE_NAMED},
		{MPI_COMBINER_DUP, SKELGEN_TYPE_DUP},
		{MPI_COMBINER_CONTIGUOUS, SKELGEN_TYPE_CONTIGUOUS},
		{MPI_COMBINER_VECTOR, SKELGEN_TYPE_VECTOR},
		{MPI_COMBINER_HVECTOR, SKELGEN_TYPE_HVECTOR},
		{MPI_COMBINER_INDEXED, SKELGEN_TYPE_INDEXED},
		{MPI_COMBINER_HINDEXED, SKELGEN_TYPE_HINDEXED},
		{MPI_COMBINER_INDEXED_BLOCK, SKELGEN_TYPE_INDEXED_BLOCK},
		{MPI_COMBINER_HINDEXED_BLOCK, SKELGEN_TYPE_HINDEXED_BLOCK},
		{MPI_COMBINER_STRUCT, SKELGEN_TYPE_STRUCT},
		{MPI_COMBINER_SUBARRAY, SKELGEN_TYPE_SUBARRAY},
		{MPI_COMBINER_DARRAY, SKELGEN_TYPE_DARRAY},
		{MPI_COMBINER_RESIZED, SKELGEN_TYPE_RESIZED},
	};

	pmpi.Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].theirs == combiner)
			return table[i].ours;
	return SKELGEN_TYPE_OTHER;
}

/* Describe a datatype; types of equal content share an id. */
static uint32_t add_type(MPI_Datatype type)
{
	MPI_Count size = 0;
	MPI_Aint lower = 0;
	MPI_Aint extent = 0;
	MPI_Aint true_lower = 0;
	MPI_Aint true_extent = 0;
	char name[MPI_MAX_OBJECT_NAME] = "";
	int length = 0;
	uint8_t payload[MPI_MAX_OBJECT_NAME + 80];
	uint8_t *p = payload;
	uint64_t hash = 1;
	uint64_t *known;
	struct definition *definition;

	pmpi.Type_size_x(type, &size);
	pmpi.Type_get_extent(type, &lower, &extent);
	pmpi.Type_get_true_extent(type, &true_lower, &true_extent);
	pmpi.Type_get_name(type, name, &length);
	p = skelgen_put_varint(p, (uint64_t)(size < 0 ? 0 : size));
	p = skelgen_put_zigzag(p, lower);
	p = skelgen_put_zigzag(p, extent);
	p = skelgen_put_varint(p, combiner_of(type));
	p = skelgen_put_varint(p, size == extent && lower == 0 && true_lower == 0 &&
					  true_extent == extent);
	p = skelgen_put_string(p, name, (size_t)length);
	for (uint8_t *q = payload; q < p; q++)
		hash = skelgen_mix(hash, *q);
	known = skelgen_map_find(&type_of_content, hash);
	if (known)
		return (uint32_t)*known;
	if (!skelgen_room((void **)&types, &type_room, type_count + 1, sizeof(*types)))
		return 0;
	definition = &types[type_count];
	definition->payload = malloc((size_t)(p - payload) + 10);
	if (!definition->payload)
		return 0;
	definition->bytes = (size_t)(skelgen_put_varint(definition->payload, ++type_count) -
				     definition->payload);
	memcpy(definition->payload + definition->bytes, payload, (size_t)(p - payload));
	definition->bytes += (size_t)(p - payload);
	skelgen_map_set(&type_of_content, hash, type_count);
	return (uint32_t)type_count;
}

/* The id of a datatype, 0 for none. Without `ask` MPI is not asked about an unknown handle. */
uint32_t skelgen_type_id(struct skelgen_stream *s, uint64_t handle, bool ask)
{
	uint64_t *known = skelgen_map_find(&type_of_handle, handle + 1);
	MPI_Datatype type = (MPI_Datatype)(uintptr_t)handle;
	uint32_t id = known ? (uint32_t)*known : 0;

	if (!handle || type == mpi.datatype_null || (!known && !ask))
		return 0;
	if (!known) {
		id = add_type(type);
		skelgen_map_set(&type_of_handle, handle + 1, id);
	}
	if (id && !skelgen_defined(s, SKELGEN_REC_TYPE, id))
		skelgen_define(s, SKELGEN_REC_TYPE, types[id - 1].payload, types[id - 1].bytes);
	return id;
}

uint32_t skelgen_op_code(uint64_t handle)
{
	uint64_t *known = handle ? skelgen_map_find(&op_of_handle, handle + 1) : NULL;
	int commutes = 1;

	if (known || !handle)
		return known ? (uint32_t)*known : SKELGEN_OP_NONE;
	pmpi.Op_commutative((MPI_Op)(uintptr_t)handle, &commutes);
	return commutes ? SKELGEN_OP_USER : SKELGEN_OP_USER_NONCOMMUTATIVE;
}

/* Mprobe found a message: Mrecv will not say where it comes from. */
void skelgen_message_made(MPI_Message handle, MPI_Comm comm, int source, int tag)
{
	struct skelgen_message *message = malloc(sizeof(*message));

	if (!message)
		return;
	*message = (struct skelgen_message){(uint64_t)(uintptr_t)comm, skelgen_peer(source),
					    skelgen_tag(tag)};
	skelgen_lock();
	skelgen_map_set(&messages, KEY(handle), (uintptr_t)message);
	skelgen_unlock();
}

/* What the Mprobe knew. Before the call: behind it another thread's message may have the handle. */
struct skelgen_message skelgen_message_taken(MPI_Message handle)
{
	struct skelgen_message message = {0, SKELGEN_NO_PEER, SKELGEN_NO_TAG};
	uint64_t *known;

	skelgen_lock();
	known = skelgen_map_find(&messages, KEY(handle));
	if (known) {
		message = *(struct skelgen_message *)(uintptr_t)*known;
		free((void *)(uintptr_t)*known);
		skelgen_map_remove(&messages, KEY(handle));
	}
	skelgen_unlock();
	return message;
}

/* Let go of what MPI must not find in use at Finalize. */
void skelgen_objects_finalize(void)
{
	pmpi.Group_free(&world_group);
}

void skelgen_objects_close(void)
{
	for (size_t i = 0; i < comm_count; i++)
		if (comms[i])
			free_comm(comms[i]);
	for (size_t i = 0; i < type_count; i++)
		free(types[i].payload);
	free(comms);
	free(types);
	comms = NULL;
	types = NULL;
	comm_count = comm_room = type_count = type_room = 0;
	skelgen_map_close(&comm_of_handle);
	skelgen_map_close(&twins);
	skelgen_map_close(&promises);
	skelgen_map_close(&type_of_handle);
	skelgen_map_close(&type_of_content);
	skelgen_map_close(&op_of_handle);
	skelgen_map_close(&messages);
}
