/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From request handles to request numbers. MPI libraries return one handle for several requests
 * that completed at once, so a handle leads to a queue: the oldest request completes first.
 */
#include "recorder.h"

#include <stdlib.h>

#define NO_NODE UINT32_MAX

struct node {
	uint64_t number; /* request, or persistent request; 0: made while recording paused */
	uint64_t active; /* of a persistent one: the request that its last start made, or 0 */
	uint32_t next;
	uint16_t flags;   /* enum skelgen_request_flags */
	uint16_t thread;  /* whose stream numbered it */
	uint16_t creator; /* of a persistent one: whose stream numbered that */
};

struct slot {
	uint64_t handle; /* 0: free; handles are never 0 */
	uint32_t head;   /* NO_NODE: no request has this handle at the moment */
	uint32_t tail;
};

/* What a completion learns about a request. */
struct taken {
	uint64_t number;
	unsigned flags;
	uint32_t thread;
};

static struct slot *slots;
static size_t slot_room; /* power of two */
static size_t slots_used;
static struct node *nodes;
static size_t node_room;
static uint32_t free_node;

uint64_t skelgen_watched;

/* Requests whose completion has to look at the status. */
static bool watched(unsigned flags)
{
	return flags &
	       (SKELGEN_REQUEST_WATCHED | SKELGEN_REQUEST_PROMISE | SKELGEN_REQUEST_CANCELLED);
}

static size_t start_of(uint64_t handle)
{
	return (size_t)((handle * 0x9e3779b97f4a7c15u) >> 24) & (slot_room - 1);
}

static struct slot *find(uint64_t handle)
{
	for (size_t i = start_of(handle);; i = (i + 1) & (slot_room - 1))
		if (slots[i].handle == handle || !slots[i].handle)
			return &slots[i];
}

static bool more_nodes(void)
{
	size_t room = node_room ? 2 * node_room : 256;
	struct node *larger = realloc(nodes, room * sizeof(*nodes));

	if (!larger)
		return false;
	for (size_t i = node_room; i < room; i++)
		larger[i].next = i + 1 < room ? (uint32_t)(i + 1) : free_node;
	free_node = (uint32_t)node_room;
	nodes = larger;
	node_room = room;
	return true;
}

/* Make the table larger and leave out handles that no request has any more. */
static bool more_slots(void)
{
	struct slot *old = slots;
	size_t old_room = slot_room;
	size_t live = 0;
	size_t room = 256;

	for (size_t i = 0; i < old_room; i++)
		live += old[i].handle && old[i].head != NO_NODE;
	while (room < 4 * live)
		room *= 2;
	slots = calloc(room, sizeof(*slots));
	if (!slots) {
		slots = old;
		return false;
	}
	slot_room = room;
	slots_used = 0;
	for (size_t i = 0; i < old_room; i++) {
		if (!old[i].handle || old[i].head == NO_NODE)
			continue;
		*find(old[i].handle) = old[i];
		slots_used++;
	}
	free(old);
	return true;
}

bool skelgen_requests_open(void)
{
	free_node = NO_NODE;
	return more_slots() && more_nodes();
}

void skelgen_requests_close(void)
{
	free(slots);
	free(nodes);
	slots = NULL;
	nodes = NULL;
	slot_room = slots_used = node_room = 0;
	skelgen_watched = 0;
}

static void add(uint64_t handle, const struct node *request)
{
	struct slot *slot;
	uint32_t index;

	if (free_node == NO_NODE && !more_nodes())
		return;
	slot = find(handle);
	if (!slot->handle) {
		if (2 * (slots_used + 1) > slot_room) {
			if (!more_slots())
				return;
			slot = find(handle);
		}
		slots_used++;
		slot->handle = handle;
		slot->head = NO_NODE;
	}
	index = free_node;
	free_node = nodes[index].next;
	nodes[index] = *request;
	nodes[index].next = NO_NODE;
	if (slot->head == NO_NODE)
		slot->head = index;
	else
		nodes[slot->tail].next = index;
	slot->tail = index;
}

/* A call made a request: number it. */
void skelgen_request_created(struct skelgen_stream *s, uint64_t handle, unsigned flags)
{
	bool paused = skelgen.paused;
	struct node request = {
		.flags = (uint16_t)flags,
		.thread = (uint16_t)s->thread,
		.creator = (uint16_t)s->thread,
	};

	if (!paused)
		request.number =
			flags & SKELGEN_REQUEST_PERSISTENT ? ++s->persistent : ++s->requests;
	if (handle == (uint64_t)(uintptr_t)mpi.request_null)
		return;
	skelgen_lock();
	skelgen_watched += watched(flags);
	add(handle, &request);
	skelgen_unlock();
}

static void remove_head(struct slot *slot)
{
	uint32_t index = slot->head;

	slot->head = nodes[index].next;
	nodes[index].next = free_node;
	free_node = index;
}

/* Take the oldest active request with this handle; false: none is known. */
static bool take(uint64_t handle, struct taken *taken)
{
	struct slot *slot = find(handle);
	struct node *node;

	if (!slot->handle || slot->head == NO_NODE)
		return false;
	node = &nodes[slot->head];
	taken->flags = node->flags;
	taken->thread = node->thread;
	if (node->flags & SKELGEN_REQUEST_PERSISTENT) {
		taken->number = node->active;
		node->active = 0;
		node->flags &= (uint16_t)~SKELGEN_REQUEST_CANCELLED;
		skelgen_watched -= watched(taken->flags) && !watched(node->flags);
		return taken->number != 0;
	}
	taken->number = node->number;
	skelgen_watched -= watched(node->flags);
	remove_head(slot);
	return true;
}

static void add_age(struct skelgen_stream *s, int64_t age)
{
	if (!skelgen_room((void **)&s->ages, &s->ages_room, s->age_count + 1, sizeof(*s->ages)))
		return;
	s->ages[s->age_count++] = age;
}

static void add_foreign(struct skelgen_stream *s, const struct taken *taken)
{
	if (!skelgen_room((void **)&s->foreign, &s->foreign_room, s->foreign_count + 1,
			  sizeof(*s->foreign)))
		return;
	s->foreign[s->foreign_count].thread = taken->thread;
	s->foreign[s->foreign_count++].number = taken->number;
	s->special |= SKELGEN_SPECIAL_FOREIGN;
}

static void add_status(struct skelgen_stream *s, const MPI_Status *status, bool cancelled)
{
	struct skelgen_status_entry *entry;

	if (!skelgen_room((void **)&s->statuses, &s->status_room, s->status_count + 1,
			  sizeof(*s->statuses)))
		return;
	entry = &s->statuses[s->status_count++];
	entry->position = (uint32_t)(s->age_count - 1);
	entry->source = cancelled ? SKELGEN_CANCELLED : skelgen_peer(status->MPI_SOURCE);
	entry->tag = cancelled ? SKELGEN_NO_TAG : skelgen_tag(status->MPI_TAG);
	s->special |= SKELGEN_SPECIAL_STATUS;
}

/* One of the requests that a call completed. */
static void complete(struct skelgen_stream *s, uint64_t handle, const MPI_Status *status)
{
	struct taken taken;
	int cancelled = 0;

	if (!take(handle, &taken))
		return;
	if (taken.flags & SKELGEN_REQUEST_PROMISE)
		skelgen_comm_fulfil(((uint64_t)taken.thread + 1) << 48 | taken.number);
	if (!taken.number || skelgen.paused)
		return;
	if (taken.thread != (uint32_t)s->thread) {
		add_foreign(s, &taken);
		return;
	}
	add_age(s, (int64_t)(s->requests - taken.number + 1));
	if (!status || status == MPI_STATUS_IGNORE)
		return;
	if (taken.flags & SKELGEN_REQUEST_CANCELLED)
		pmpi.Test_cancelled(status, &cancelled);
	if (cancelled || taken.flags & SKELGEN_REQUEST_WATCHED)
		add_status(s, status, cancelled);
}

/* Keep the handles that a completion is given: it overwrites them. */
void skelgen_hold(struct skelgen_stream *s, size_t n, const MPI_Request requests[])
{
	if (!requests || !skelgen_room((void **)&s->held, &s->held_room, n, sizeof(*s->held)))
		return;
	for (size_t i = 0; i < n; i++)
		s->held[i] = (uint64_t)(uintptr_t)requests[i];
}

/* Statuses for a program that passes none, while we need some. */
MPI_Status *skelgen_own_statuses(struct skelgen_stream *s, size_t n)
{
	if (!skelgen_room((void **)&s->own_statuses, &s->own_statuses_room, n + 1,
			  sizeof(*s->own_statuses)))
		return MPI_STATUSES_IGNORE;
	return s->own_statuses;
}

/*
 * The reference of the held requests that are complete: all n, or those whose indices are given.
 * statuses[i] belongs to the i-th of them.
 */
uint64_t skelgen_completed(struct skelgen_stream *s, size_t n, const int indices[],
			   const MPI_Status statuses[])
{
	const MPI_Status *none = MPI_STATUSES_IGNORE;

	s->age_count = 0;
	skelgen_lock();
	for (size_t i = 0; i < n; i++) {
		size_t index = indices ? (size_t)indices[i] : i;

		if (index < s->held_room)
			complete(s, s->held[index], statuses == none ? NULL : statuses + i);
	}
	skelgen_unlock();
	return skelgen_list(s);
}

uint64_t skelgen_completed_one(struct skelgen_stream *s, uint64_t handle, const MPI_Status *status)
{
	s->age_count = 0;
	skelgen_lock();
	complete(s, handle, status);
	skelgen_unlock();
	return s->age_count ? (uint64_t)s->ages[0] << 2 | SKELGEN_REF_AGE : SKELGEN_REF_NONE;
}

/* The held persistent requests were started: each start makes a request. */
uint64_t skelgen_started(struct skelgen_stream *s, size_t n)
{
	bool paused = skelgen.paused;

	s->age_count = 0;
	skelgen_lock();
	for (size_t i = 0; i < n; i++) {
		struct slot *slot = find(s->held[i]);
		struct node *node =
			slot->handle && slot->head != NO_NODE ? &nodes[slot->head] : NULL;

		if (!node || !(node->flags & SKELGEN_REQUEST_PERSISTENT) || !node->number)
			continue;
		node->active = 0;
		if (paused || node->creator != s->thread)
			continue;
		add_age(s, -(int64_t)node->number);
		node->active = ++s->requests;
		node->thread = (uint16_t)s->thread;
	}
	skelgen_unlock();
	return skelgen_list(s);
}

/* Request_free: the handle will come back for another request. */
uint64_t skelgen_released(struct skelgen_stream *s, uint64_t handle)
{
	struct slot *slot;
	struct node *node;
	uint64_t number;
	unsigned flags;

	s->age_count = 0;
	skelgen_lock();
	slot = find(handle);
	if (slot->handle && slot->head != NO_NODE) {
		node = &nodes[slot->head];
		number = node->number;
		flags = node->flags;
		skelgen_watched -= watched(flags);
		if (number && node->creator == s->thread)
			add_age(s, flags & SKELGEN_REQUEST_PERSISTENT
					   ? -(int64_t)number
					   : (int64_t)(s->requests - number + 1));
		remove_head(slot);
	}
	skelgen_unlock();
	return skelgen_list(s);
}

/* Cancel: from now on its status may say that it was cancelled. */
uint64_t skelgen_cancelled(struct skelgen_stream *s, uint64_t handle)
{
	struct slot *slot;
	struct node *node;
	uint64_t number;

	s->age_count = 0;
	skelgen_lock();
	slot = find(handle);
	if (slot->handle && slot->head != NO_NODE) {
		node = &nodes[slot->head];
		number = node->flags & SKELGEN_REQUEST_PERSISTENT ? node->active : node->number;
		skelgen_watched += !watched(node->flags);
		node->flags |= SKELGEN_REQUEST_CANCELLED;
		if (number && node->thread == s->thread)
			add_age(s, (int64_t)(s->requests - number + 1));
	}
	skelgen_unlock();
	return skelgen_list(s);
}
