/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes: a call that was seen before becomes the id of its shape. */
#include "intern/shape.h"

#include "base/array.h"
#include "base/map.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"
#include "intern/call_site.h"
#include "intern/interned.h"
#include "intern/prediction.h"

#include <stdlib.h>

/* Shapes that differ only in peer, tag or requests; beyond this these become values. */
#define SHAPES_PER_BASE 256
/*
 * Shapes in memory (320 bytes each), three quarters of what their tables are made for; beyond
 * this all are forgotten, their ids are not reused.
 */
#define MOST_SHAPES 12288
#define SLAB_SHAPES 64

void (*skelgen_number_handles)(struct skelgen_stream *s, const struct skelgen_call *call,
			       struct skelgen_numbers *numbers);

/* Note counts that were not predicted: perhaps they repeat with another period. */
void skelgen_count_miss(struct skelgen_shape *shape, int64_t a, int64_t b)
{
	for (unsigned back = 1; back <= SKELGEN_COUNT_HISTORY; back++) {
		const struct skelgen_counts *counts =
			&shape->history[(shape->newest + 1 - back) % SKELGEN_COUNT_HISTORY];

		if (counts->a != a || counts->b != b)
			continue;
		shape->lag = (uint8_t)back;
		break;
	}
	shape->turning = SKELGEN_COUNT_HISTORY;
	skelgen_turn(shape, a, b);
}

static uint64_t base_hash(const struct skelgen_call *call)
{
	uint64_t hash = skelgen_mix(1, call->site);

	hash = skelgen_mix(hash, skelgen_pair(call->function, call->flags));
	hash = skelgen_mix(hash, call->comm);
	hash = skelgen_mix(hash, call->type_a);
	hash = skelgen_mix(hash, call->type_b);
	return skelgen_mix(hash, call->op);
}

static uint64_t call_hash(uint64_t hash, const struct skelgen_call *call)
{
	hash = skelgen_mix(hash, skelgen_pair((uint32_t)call->peer, (uint32_t)call->tag));
	hash = skelgen_mix(hash, skelgen_pair((uint32_t)call->peer2, (uint32_t)call->tag2));
	return skelgen_mix(hash, call->reference);
}

static bool same_base(const struct skelgen_shape *shape, const struct skelgen_call *call)
{
	uint32_t function = __atomic_load_n(&shape->function, __ATOMIC_RELAXED);

	return shape->site == call->site && function == call->function &&
	       shape->flags == call->flags && shape->comm == call->comm &&
	       shape->type_a == call->type_a && shape->type_b == call->type_b &&
	       shape->op == call->op;
}

static bool same_values(const struct skelgen_shape *shape, const struct skelgen_call *call)
{
	return shape->peer == call->peer && shape->tag == call->tag &&
	       shape->peer2 == call->peer2 && shape->tag2 == call->tag2 &&
	       shape->reference == call->reference;
}

/* Forget all shapes in memory; new ones get new ids. */
static void forget_all(struct skelgen_stream *s)
{
	skelgen_map_clear(&s->interned.shapes);
	skelgen_map_clear(&s->interned.contents);
	skelgen_map_clear(&s->interned.bases);
	s->interned.shape_count = 0;
	skelgen_predictions_forget(s);
}

static struct skelgen_shape *new_shape(struct skelgen_stream *s)
{
	struct skelgen_interned *in = &s->interned;
	struct skelgen_shape *slab;

	if (in->shape_count == MOST_SHAPES)
		forget_all(s);
	if (in->shape_count == in->slab_count * SLAB_SHAPES) {
		if (!skelgen_room((void **)&in->slabs, &in->slab_room, in->slab_count + 1,
				  sizeof(*in->slabs)))
			return NULL;
		slab = aligned_alloc(64, SLAB_SHAPES * sizeof(*slab));
		if (!slab)
			return NULL;
		in->slabs[in->slab_count++] = slab;
	}
	slab = in->slabs[in->shape_count / SLAB_SHAPES];
	return &slab[in->shape_count++ % SLAB_SHAPES];
}

static uint32_t varying_fields(const struct skelgen_call *call)
{
	uint32_t varies = 0;

	if (call->peer != SKELGEN_NO_PEER)
		varies |= SKELGEN_SHAPE_VARIES_PEER;
	if (call->tag != SKELGEN_NO_TAG)
		varies |= SKELGEN_SHAPE_VARIES_TAG;
	if (call->peer2 != SKELGEN_NO_PEER)
		varies |= SKELGEN_SHAPE_VARIES_PEER2;
	if (call->tag2 != SKELGEN_NO_TAG)
		varies |= SKELGEN_SHAPE_VARIES_TAG2;
	if (call->reference)
		varies |= SKELGEN_SHAPE_VARIES_LIST;
	return varies;
}

static void key_of(struct skelgen_shape *shape, const struct skelgen_call *call)
{
	shape->site = call->site;
	shape->comm = call->comm;
	shape->type_a = call->type_a;
	shape->type_b = call->type_b;
	shape->op = call->op;
	shape->function = call->function;
}

/* Resolve handles into ids and write whatever definition is missing. */
static struct skelgen_shape resolve(struct skelgen_stream *s, const struct skelgen_call *call,
				    uint32_t varies, uint32_t *site)
{
	struct skelgen_shape shape = {
		.reference = call->reference,
		.flags = call->flags,
		.peer = call->peer,
		.tag = call->tag,
		.peer2 = call->peer2,
		.tag2 = call->tag2,
		.count_a = call->count_a,
		.count_b = call->count_b,
		.vector_a = call->vector_a,
		.vector_b = call->vector_b,
		.varies = varies,
		.lag = 1,
	};
	struct skelgen_numbers numbers;

	key_of(&shape, call);
	for (size_t i = 0; i < SKELGEN_COUNT_HISTORY; i++)
		shape.history[i] = (struct skelgen_counts){call->count_a, call->count_b};
	skelgen_define_function(s, call->function);
	*site = skelgen_site_id(s, call->site);
	skelgen_number_handles(s, call, &numbers);
	shape.comm_id = numbers.comm;
	shape.type_a_id = numbers.type_a;
	shape.type_b_id = numbers.type_b;
	shape.op_code = numbers.op;
	return shape;
}

static uint64_t content_hash(const struct skelgen_shape *shape, const struct skelgen_call *call,
			     uint32_t site)
{
	uint64_t hash = skelgen_mix(2, skelgen_pair(shape->function, shape->flags));

	hash = skelgen_mix(hash, skelgen_pair((uint32_t)shape->comm_id, site));
	hash = skelgen_mix(hash, skelgen_pair(shape->type_a_id, shape->type_b_id));
	hash = skelgen_mix(hash, skelgen_pair(shape->op_code, shape->varies));
	return shape->varies ? hash : call_hash(hash, call);
}

static void define_shape(struct skelgen_stream *s, const struct skelgen_shape *shape, uint32_t site)
{
	uint8_t payload[200];
	uint8_t *p = payload;

	p = skelgen_put_varint(p, shape->id);
	p = skelgen_put_varint(p, shape->function);
	p = skelgen_put_varint(p, shape->flags | shape->varies);
	p = skelgen_put_zigzag(p, shape->comm_id);
	p = skelgen_put_zigzag(p, shape->peer);
	p = skelgen_put_zigzag(p, shape->tag);
	p = skelgen_put_zigzag(p, shape->peer2);
	p = skelgen_put_zigzag(p, shape->tag2);
	p = skelgen_put_varint(p, shape->op_code);
	p = skelgen_put_varint(p, shape->type_a_id);
	p = skelgen_put_varint(p, shape->type_b_id);
	p = skelgen_put_varint(p, site);
	p = skelgen_put_varint(p, shape->reference);
	p = skelgen_put_zigzag(p, shape->count_a);
	p = skelgen_put_zigzag(p, shape->count_b);
	p = skelgen_put_varint(p, shape->vector_a);
	p = skelgen_put_varint(p, shape->vector_b);
	skelgen_define(s, SKELGEN_REC_SHAPE, payload, (size_t)(p - payload));
}

/* A call that its handles do not lead to: the same content under other handles, or new. */
static struct skelgen_shape *find_or_define(struct skelgen_stream *s,
					    const struct skelgen_call *call, uint32_t varies)
{
	uint32_t site;
	struct skelgen_shape draft = resolve(s, call, varies, &site);
	uint64_t content = content_hash(&draft, call, site);
	uint64_t *known = skelgen_map_find(&s->interned.contents, content);
	struct skelgen_shape *shape;

	if (known) {
		shape = (struct skelgen_shape *)(uintptr_t)*known;
		key_of(shape, call);
		return shape;
	}
	shape = new_shape(s);
	if (!shape)
		return NULL;
	*shape = draft;
	shape->content = content;
	shape->id = s->interned.next_shape++;
	skelgen_map_set(&s->interned.contents, content, (uintptr_t)shape);
	define_shape(s, shape, site);
	return shape;
}

/*
 * The shape of a call that has none yet. A call site whose peers, tags or requests keep
 * changing gets one shape in which they vary.
 */
static struct skelgen_shape *further_shape(struct skelgen_stream *s,
					   const struct skelgen_call *call, uint64_t base,
					   uint64_t hash)
{
	uint64_t *known;
	uint64_t siblings;
	struct skelgen_shape *shape;

	if (s->interned.shapes.live >= MOST_SHAPES) /* equal calls whose handles keep changing */
		forget_all(s);
	known = skelgen_map_find(&s->interned.bases, base);
	siblings = known ? *known : 0;
	if (siblings > SHAPES_PER_BASE) {
		shape = (struct skelgen_shape *)(uintptr_t)siblings;
		if (same_base(shape, call))
			return shape;
		siblings = SHAPES_PER_BASE;
	}
	if (siblings == SHAPES_PER_BASE) {
		shape = find_or_define(s, call, varying_fields(call));
		if (shape)
			skelgen_map_set(&s->interned.bases, base, (uintptr_t)shape);
		return shape;
	}
	shape = find_or_define(s, call, 0);
	if (shape) {
		skelgen_map_set(&s->interned.bases, base, siblings + 1);
		skelgen_map_set(&s->interned.shapes, hash, (uintptr_t)shape);
	}
	return shape;
}

/* The shape of a call, defined if it is new. */
struct skelgen_shape *skelgen_shape_of(struct skelgen_stream *s, const struct skelgen_call *call)
{
	uint64_t base = base_hash(call);
	uint64_t hash = call_hash(base, call);
	uint64_t *known = skelgen_map_find(&s->interned.shapes, hash);
	struct skelgen_shape *shape;

	if (known) {
		shape = (struct skelgen_shape *)(uintptr_t)*known;
		if (same_base(shape, call) && same_values(shape, call))
			return shape;
	}
	skelgen_lock();
	shape = further_shape(s, call, base, hash);
	skelgen_unlock();
	return shape;
}

/* A handle was freed: its value may come back with another meaning. The lock is held. */
void skelgen_shapes_forget(struct skelgen_stream *s, uint64_t handle)
{
	for (size_t i = 0; i < s->interned.shape_count; i++) {
		struct skelgen_shape *shape = &s->interned.slabs[i / SLAB_SHAPES][i % SLAB_SHAPES];

		if (shape->comm == handle || shape->type_a == handle || shape->type_b == handle ||
		    shape->op == handle)
			__atomic_store_n(&shape->function, UINT32_MAX, __ATOMIC_RELAXED);
	}
}

/* A handle's value may come back with another meaning: no shape may be found by it. */
void skelgen_handle_freed(uint64_t handle)
{
	skelgen_lock();
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next)
		skelgen_shapes_forget(s, handle);
	skelgen_unlock();
}
