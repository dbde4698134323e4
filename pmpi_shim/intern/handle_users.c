/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which shapes have a handle: those that nobody may find any more when it is freed. A program may
 * free handles as often as it communicates, so they are not searched for among all shapes: the
 * users of a handle are a list. It goes through the shapes themselves, by their place in memory and
 * which of their handles it is.
 */
#include "intern/handle_users.h"

#include "base/map.h"
#include "intern/prediction.h"

_Static_assert(SKELGEN_MOST_SHAPES *SKELGEN_HANDLES < UINT16_MAX, "a user takes 16 bits");

/* A place in a list: 0 is none. */
static uint16_t user_of(const struct skelgen_shape *shape, unsigned which)
{
	return (uint16_t)((shape->place - 1u) * SKELGEN_HANDLES + which + 1);
}

static struct skelgen_shape *shape_of(const struct skelgen_stream *s, unsigned user)
{
	return skelgen_shape_at(s, (user - 1) / SKELGEN_HANDLES + 1);
}

static struct skelgen_user *neighbours(const struct skelgen_stream *s, unsigned user)
{
	return &shape_of(s, user)->users[(user - 1) % SKELGEN_HANDLES];
}

static void leave(struct skelgen_stream *s, struct skelgen_shape *shape, unsigned which,
		  uint64_t handle)
{
	const struct skelgen_user *own = &shape->users[which];

	if (own->next)
		neighbours(s, own->next)->before = own->before;
	if (own->before)
		neighbours(s, own->before)->next = own->next;
	else if (own->next)
		skelgen_map_set(&s->interned.users, handle, own->next);
	else
		skelgen_map_remove(&s->interned.users, handle);
	shape->used[which] = false;
}

/* False: memory is short. */
static bool join(struct skelgen_stream *s, struct skelgen_shape *shape, unsigned which,
		 uint64_t handle)
{
	uint16_t user = user_of(shape, which);
	const uint64_t *known = skelgen_map_find(&s->interned.users, handle);
	uint16_t first = known ? (uint16_t)*known : 0;

	if (!skelgen_map_set(&s->interned.users, handle, user))
		return false;
	shape->users[which] = (struct skelgen_user){.next = first};
	shape->used[which] = true;
	if (first)
		neighbours(s, first)->before = user;
	return true;
}

/*
 * The shape takes the handles of a call, which lead to the same as those that it had. Where memory
 * is short it matches no call: nobody would take it back when a handle is freed.
 */
void skelgen_use_handles(struct skelgen_stream *s, struct skelgen_shape *shape,
			 const struct skelgen_call *call)
{
	uint64_t *const had[SKELGEN_HANDLES] = {&shape->comm, &shape->type_a, &shape->type_b,
						&shape->op};
	const uint64_t has[SKELGEN_HANDLES] = {call->comm, call->type_a, call->type_b, call->op};
	bool known = true;

	for (unsigned i = 0; i < SKELGEN_HANDLES; i++) {
		if (shape->used[i] && *had[i] != has[i])
			leave(s, shape, i, *had[i]);
		*had[i] = has[i];
		if (!shape->used[i] && has[i])
			known = join(s, shape, i, has[i]) && known;
	}
	shape->site = call->site;
	shape->function = known ? call->function : UINT32_MAX;
}

/* A handle was freed: its value may come back with another meaning. The lock is held. */
void skelgen_shapes_forget(struct skelgen_stream *s, uint64_t handle)
{
	const uint64_t *known = handle ? skelgen_map_find(&s->interned.users, handle) : NULL;
	unsigned user = known ? (unsigned)*known : 0;

	if (!known)
		return;
	while (user) {
		struct skelgen_shape *shape = shape_of(s, user);
		unsigned which = (user - 1) % SKELGEN_HANDLES;

		__atomic_store_n(&shape->function, UINT32_MAX, __ATOMIC_RELAXED);
		shape->used[which] = false;
		user = shape->users[which].next;
	}
	skelgen_map_remove(&s->interned.users, handle);
}

/* A handle's value may come back with another meaning: no shape may be found by it. */
void skelgen_handle_freed(uint64_t handle)
{
	skelgen_lock();
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next)
		skelgen_shapes_forget(s, handle);
	skelgen_unlock();
}
