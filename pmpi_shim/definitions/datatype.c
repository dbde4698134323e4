/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes and operations: from handles to ids. */
#include "definitions/datatype.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mpi_library.h"
#include "definitions/communicator.h"
#include "definitions/datatype_pieces.h"
#include "definitions/silent_query.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"
#include "intern/handle_users.h"
#include "intern/interned.h"
#include "intern/shape.h"

#include <stdlib.h>

static struct skelgen_map op_of_handle;    /* -> enum skelgen_op */
static struct skelgen_map type_of_handle;  /* -> id */
static struct skelgen_map type_of_content; /* hash -> id */

struct definition {
	uint8_t *payload;
	size_t bytes;
	int64_t piece_bytes;
};

static struct definition *types; /* by id - 1 */
static size_t type_count;
static size_t type_room;

static void note_op(MPI_Op op, enum skelgen_op code)
{
	skelgen_map_set(&op_of_handle, SKELGEN_KEY(op), code);
}

void skelgen_ops_open(void)
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

/* Describe a datatype; types of equal content share an id. */
static uint32_t add_type(MPI_Datatype type)
{
	MPI_Count size = 0;
	MPI_Aint lower = 0;
	MPI_Aint extent = 0;
	char name[MPI_MAX_OBJECT_NAME] = "";
	int length = 0;
	int64_t piece_bytes = skelgen_piece_bytes(type);
	uint8_t payload[MPI_MAX_OBJECT_NAME + 90];
	uint8_t *p = payload;
	uint64_t hash = 1;
	uint64_t *known;
	struct definition *definition;

	pmpi.Type_size_x(type, &size);
	pmpi.Type_get_extent(type, &lower, &extent);
	pmpi.Type_get_name(type, name, &length);
	p = skelgen_put_varint(p, (uint64_t)(size < 0 ? 0 : size));
	p = skelgen_put_zigzag(p, lower);
	p = skelgen_put_zigzag(p, extent);
	p = skelgen_put_varint(p, skelgen_combiner_of(type));
	p = skelgen_put_varint(p, skelgen_contiguous(type));
	p = skelgen_put_string(p, name, (size_t)length);
	p = skelgen_put_varint(p, (uint64_t)piece_bytes);
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
	definition->piece_bytes = piece_bytes;
	skelgen_map_set(&type_of_content, hash, type_count);
	return (uint32_t)type_count;
}

/* The id of a handle's type, which is described if it is not known yet. */
static uint32_t described(MPI_Datatype type)
{
	uint64_t *known = skelgen_map_find(&type_of_handle, SKELGEN_KEY(type));
	uint32_t id = known ? (uint32_t)*known : add_type(type);

	if (!known)
		skelgen_map_set(&type_of_handle, SKELGEN_KEY(type), id);
	return id;
}

/* Mean size of the pieces in which an element of a type lies in memory [bytes]; 0: not known. */
int64_t skelgen_type_piece(MPI_Datatype type)
{
	uint32_t id;
	int64_t bytes;

	skelgen_lock();
	id = described(type);
	bytes = id ? types[id - 1].piece_bytes : 0;
	skelgen_unlock();
	return bytes;
}

/* The id of a datatype, 0 for none. Without `ask` MPI is not asked about an unknown handle. */
uint32_t skelgen_type_id(struct skelgen_stream *s, uint64_t handle, bool ask)
{
	uint64_t *known = skelgen_map_find(&type_of_handle, handle + 1);
	MPI_Datatype type = (MPI_Datatype)(uintptr_t)handle;
	uint32_t id = known ? (uint32_t)*known : 0;
	struct skelgen_unheard own;

	if (!handle || type == mpi.datatype_null || (!known && !ask))
		return 0;
	if (!known) {
		own = skelgen_ask();
		id = described(type);
		skelgen_asked(own);
	}
	if (id && !skelgen_defined(s, SKELGEN_REC_TYPE, id))
		skelgen_define(s, SKELGEN_REC_TYPE, types[id - 1].payload, types[id - 1].bytes);
	return id;
}

/* The same of an operation: what is known of it without asking is that it is the user's. */
uint32_t skelgen_op_code(uint64_t handle, bool ask)
{
	uint64_t *known = handle ? skelgen_map_find(&op_of_handle, handle + 1) : NULL;
	int commutes = 1;
	struct skelgen_unheard own;

	if (known || !handle)
		return known ? (uint32_t)*known : SKELGEN_OP_NONE;
	if (!ask)
		return SKELGEN_OP_USER;
	own = skelgen_ask();
	pmpi.Op_commutative((MPI_Op)(uintptr_t)handle, &commutes);
	skelgen_asked(own);
	return commutes ? SKELGEN_OP_USER : SKELGEN_OP_USER_NONCOMMUTATIVE;
}

void skelgen_type_freed(MPI_Datatype type)
{
	skelgen_lock();
	skelgen_map_remove(&type_of_handle, SKELGEN_KEY(type));
	skelgen_handle_freed((uint64_t)(uintptr_t)type);
	skelgen_unlock();
}

void skelgen_types_close(void)
{
	for (size_t i = 0; i < type_count; i++)
		free(types[i].payload);
	free(types);
	types = NULL;
	type_count = type_room = 0;
	skelgen_map_close(&type_of_handle);
	skelgen_map_close(&type_of_content);
	skelgen_map_close(&op_of_handle);
}
