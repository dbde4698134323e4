/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes: a call that was seen before becomes the id of its shape. */
#include "intern/shape.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/map.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"
#include "intern/call_site.h"
#include "intern/handle_users.h"
#include "intern/interned.h"
#include "intern/prediction.h"

#include <stdlib.h>

/* Shapes that differ only in peer, tag or requests; beyond this these become values. */
#define SHAPES_PER_BASE 256
/*
 * And where many have such shapes, fewer: calls that never repeat must not fill memory and caches
 * with shapes. All share this room, and each may take a sixteenth of what is left of it.
 */
#define ROOM_FOR_VALUES 4096
#define LEAST_PER_BASE 16

void (*skelgen_number_handles)(struct skelgen_stream *s, const struct skelgen_call *call,
			       struct skelgen_numbers *numbers);

/* Sums of products, with one mixing at the end: the products do not wait for each other. */
static uint64_t base_hash(const struct skelgen_call *call)
{
	return skelgen_mix(1, call->site * 0x9e3779b97f4a7c15u + call->comm * 0xbf58476d1ce4e5b9u +
				      call->type_a * 0x94d049bb133111ebu +
				      call->type_b * 0xd6e8feb86659fd93u +
				      call->op * 0xff51afd7ed558ccdu +
				      skelgen_eight(&call->function) * 0xc4ceb9fe1a85ec53u);
}

static uint64_t call_hash(uint64_t hash, const struct skelgen_call *call)
{
	uint64_t peers = skelgen_eight(&call->peer);
	uint64_t peers2 = skelgen_eight(&call->peer2);

	return skelgen_mix(hash, (peers ^ peers >> 31) * 0xbf58476d1ce4e5b9u +
					 (peers2 ^ peers2 >> 31) * 0x94d049bb133111ebu +
					 call->reference * 0xd6e8feb86659fd93u);
}

/* The next such call finds the shape without a search. */
static void note_latest(struct skelgen_stream *s, const struct skelgen_call *call,
			struct skelgen_shape *shape)
{
	*skelgen_latest_of_site(s, call->site) = shape;
	if (!shape->varies)
		*skelgen_latest_of_values(s, call) = shape;
}

/* What calls lead to has changed for some of them. */
void skelgen_latest_forget(struct skelgen_interned *in)
{
	for (size_t i = 0; i < SKELGEN_LATEST; i++)
		in->latest[i] = (struct skelgen_shape *)&skelgen_no_shape;
}

/* Forget all shapes in memory; new ones get new ids. */
static void forget_all(struct skelgen_stream *s)
{
	skelgen_latest_forget(&s->interned);
	skelgen_map_clear(&s->interned.shapes);
	skelgen_map_clear(&s->interned.contents);
	skelgen_map_clear(&s->interned.bases);
	skelgen_map_clear(&s->interned.users);
	s->interned.shape_count = 0;
	skelgen_predictions_forget(s);
}

/* Room for one more shape, which nothing leads to; NULL: memory is short. */
struct skelgen_shape *skelgen_shape_new(struct skelgen_stream *s)
{
	struct skelgen_interned *in = &s->interned;
	struct skelgen_shape *shape;

	if (in->shape_count == SKELGEN_MOST_SHAPES)
		forget_all(s);
	if (in->shape_count == in->slab_count * SKELGEN_SLAB) {
		if (!skelgen_room((void **)&in->slabs, &in->slab_room, in->slab_count + 1,
				  sizeof(*in->slabs)))
			return NULL;
		shape = aligned_alloc(64, SKELGEN_SLAB * sizeof(*shape));
		if (!shape)
			return NULL;
		in->slabs[in->slab_count++] = shape;
	}
	shape = &in->slabs[in->shape_count / SKELGEN_SLAB][in->shape_count % SKELGEN_SLAB];
	*shape = skelgen_no_shape;
	shape->place = (uint16_t)++in->shape_count;
	return shape;
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

/* Resolve handles into ids and write whatever definition is missing. */
static struct skelgen_shape resolve(struct skelgen_stream *s, const struct skelgen_call *call,
				    uint32_t varies, uint32_t *site)
{
	struct skelgen_shape shape = {
		.link.where = SKELGEN_NOWHERE,
		.site = call->site,
		.reference = call->reference,
		.function = call->function,
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
		.digests = skelgen_digest(call->count_a, call->count_b) * SKELGEN_EACH_DIGEST,
	};
	struct skelgen_numbers numbers;

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
		skelgen_use_handles(s, shape, call);
		return shape;
	}
	shape = skelgen_shape_new(s);
	if (!shape)
		return NULL;
	draft.place = shape->place;
	*shape = draft;
	shape->content = content;
	shape->id = s->interned.next_shape++;
	skelgen_map_set(&s->interned.contents, content, (uintptr_t)shape);
	define_shape(s, shape, site);
	skelgen_use_handles(s, shape, call);
	return shape;
}

/* So many shapes may differ only in peer, tag or requests. */
static uint64_t allowed(const struct skelgen_stream *s)
{
	size_t used = s->interned.shape_count;
	size_t most = used < ROOM_FOR_VALUES ? (ROOM_FOR_VALUES - used) / LEAST_PER_BASE : 0;

	return most > LEAST_PER_BASE ? most : LEAST_PER_BASE;
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

	if (s->interned.shapes.live >=
	    SKELGEN_MOST_SHAPES) /* equal calls whose handles keep changing */
		forget_all(s);
	known = skelgen_map_find(&s->interned.bases, base);
	siblings = known ? *known : 0;
	if (siblings > SHAPES_PER_BASE) {
		shape = (struct skelgen_shape *)(uintptr_t)siblings;
		if (skelgen_same_base(shape, call))
			return shape;
		siblings = SHAPES_PER_BASE;
	}
	if (siblings >= allowed(s)) {
		shape = find_or_define(s, call, varying_fields(call));
		if (shape)
			skelgen_map_set(&s->interned.bases, base, (uintptr_t)shape);
		skelgen_latest_forget(&s->interned);
		return shape;
	}
	shape = find_or_define(s, call, 0);
	if (shape) {
		skelgen_map_set(&s->interned.bases, base, siblings + 1);
		skelgen_map_set(&s->interned.shapes, hash, (uintptr_t)shape);
	}
	return shape;
}

static struct skelgen_shape *search(const struct skelgen_stream *s, const struct skelgen_call *call)
{
	uint64_t base = base_hash(call);
	const uint64_t *known = skelgen_map_find(&s->interned.bases, base);
	struct skelgen_shape *shape;

	if (!known)
		return NULL;
	if (*known > SHAPES_PER_BASE) {
		shape = (struct skelgen_shape *)(uintptr_t)*known;
		return skelgen_same_base(shape, call) ? shape : NULL;
	}
	known = skelgen_map_find(&s->interned.shapes, call_hash(base, call));
	if (!known)
		return NULL;
	shape = (struct skelgen_shape *)(uintptr_t)*known;
	return skelgen_same_base(shape, call) && skelgen_same_values(shape, call) ? shape : NULL;
}

/* The shape of a call that is neither predicted nor among the latest; NULL: it has to be defined.
 */
struct skelgen_shape *skelgen_shape_search(struct skelgen_stream *s,
					   const struct skelgen_call *call)
{
	struct skelgen_shape *shape = search(s, call);

	if (shape)
		note_latest(s, call, shape);
	return shape;
}

/* The shape of a call, defined if it is new. */
struct skelgen_shape *skelgen_shape_of(struct skelgen_stream *s, const struct skelgen_call *call)
{
	struct skelgen_shape *shape = skelgen_shape_known(s, call);
	uint64_t base;
	uint64_t begin;
	uint32_t before = s->interned.next_shape;

	if (likely(shape))
		return shape;
	begin = skelgen_now();
	base = base_hash(call);
	skelgen_lock();
	shape = further_shape(s, call, base, call_hash(base, call));
	skelgen_unlock();
	if (s->interned.next_shape != before) {
		s->overhead += skelgen_now() - begin;
		s->special |= SKELGEN_SPECIAL_OVERHEAD;
	}
	return shape;
}
