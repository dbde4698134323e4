/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests that are not complete. MPI libraries return one handle for several requests that
 * completed at once, so a handle leads to a queue: the oldest request completes first.
 *
 * Each stream has a table of the requests that its thread made. A thread looks into its own
 * first and finds nearly always what it looks for, so threads do not wait for each other, and
 * of equal handles it gets its own. The latest requests of a thread stand beside the queues, by
 * number; whatever is not so simple moves them there.
 */
#include "definitions/request_table.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NONE 0u

uint64_t skelgen_watched;

static void share(struct skelgen_requests *table)
{
	__atomic_store_n(&table->shared, true, __ATOMIC_RELAXED);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	while (__atomic_load_n(&table->busy, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Whether share() can be relied on. Asked as tables are made, by one thread at a time. */
static bool can_share(void)
{
	static long commands;

	if (!commands)
		commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
	return commands > 0 && commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED;
}

static void wait_for(struct skelgen_requests *table)
{
	while (__atomic_test_and_set(&table->locked, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void lock(struct skelgen_requests *table, bool own)
{
	if (likely(!skelgen.multiple) || (own && skelgen_requests_enter(table)))
		return;
	wait_for(table);
	if (!own && !table->shared)
		share(table);
}

void skelgen_unlock_table(struct skelgen_requests *table, bool own)
{
	if (own && table->busy)
		skelgen_requests_leave(table);
	else if (unlikely(skelgen.multiple))
		__atomic_clear(&table->locked, __ATOMIC_RELEASE);
}

/* The queue of a handle, or the free place where it would stand. */
static struct skelgen_queue *find(const struct skelgen_requests *table, uint64_t handle)
{
	size_t mask = table->queue_room - 1;

	for (size_t i = handle * 0x9e3779b97f4a7c15u >> 24;; i++) {
		struct skelgen_queue *queue = &table->queues[i & mask];

		if (queue->handle == handle || !queue->handle)
			return queue;
	}
}

static bool more_room(struct skelgen_requests *table)
{
	uint32_t room = table->room ? 2 * table->room : 64;
	struct skelgen_request *larger = realloc(table->more, room * sizeof(*larger));

	if (!larger)
		return false;
	for (uint32_t i = table->room; i < room; i++)
		larger[i].next = i + 1 < room ? i + 1 : table->free;
	table->free = table->room ? table->room : 1; /* 0 is NONE */
	table->more = larger;
	table->room = room;
	return true;
}

/* Make room for more handles and leave out those that no request has any more. */
static bool more_queues(struct skelgen_requests *table)
{
	struct skelgen_requests old = *table;
	size_t live = 0;
	size_t room = 128;

	for (size_t i = 0; i < old.queue_room; i++)
		live += old.queues[i].oldest.flags != 0;
	while (room < 4 * live)
		room *= 2;
	table->queues = calloc(room, sizeof(*table->queues));
	if (!table->queues) {
		table->queues = old.queues;
		return false;
	}
	table->queue_room = room;
	table->queues_used = 0;
	for (size_t i = 0; i < old.queue_room; i++) {
		if (!old.queues[i].oldest.flags)
			continue;
		*find(table, old.queues[i].handle) = old.queues[i];
		table->queues_used++;
	}
	free(old.queues);
	return true;
}

bool skelgen_requests_open(struct skelgen_requests *table)
{
	*table = (struct skelgen_requests){.shared = skelgen.multiple && !can_share()};
	return more_queues(table) && more_room(table);
}

/*
 * Whether all requests of a thread that has ended are complete; then no other thread has the table
 * locked or will have.
 */
bool skelgen_requests_none(struct skelgen_requests *table)
{
	bool none;

	wait_for(table);
	none = !table->live;
	for (size_t i = 0; none && i < table->queue_room; i++)
		none = !table->queues[i].oldest.flags;
	__atomic_clear(&table->locked, __ATOMIC_RELEASE);
	return none;
}

static bool active(const struct skelgen_request *request)
{
	return request->flags & SKELGEN_REQUEST_LIVE &&
	       (!(request->flags & SKELGEN_REQUEST_PERSISTENT) || request->active);
}

/* Whether a request was made or started and is not complete. */
bool skelgen_requests_active(const struct skelgen_requests *table)
{
	if (table->live)
		return true;
	for (size_t i = 0; i < table->queue_room; i++) {
		const struct skelgen_request *one = &table->queues[i].oldest;

		while (one->flags & SKELGEN_REQUEST_LIVE) {
			if (active(one))
				return true;
			if (one->next == NONE)
				break;
			one = &table->more[one->next];
		}
	}
	return false;
}

void skelgen_requests_close(struct skelgen_requests *table)
{
	free(table->queues);
	free(table->more);
}

/* Place for a further request with a handle that has one; NULL when memory is short. */
static struct skelgen_request *queue_up(struct skelgen_requests *table, struct skelgen_queue *queue)
{
	struct skelgen_request *request;
	uint32_t index = table->free;

	if (unlikely(index == NONE)) {
		if (!more_room(table))
			return NULL;
		index = table->free;
	}
	request = &table->more[index];
	table->free = request->next;
	if (queue->oldest.next == NONE)
		queue->oldest.next = index;
	else
		table->more[queue->newest].next = index;
	queue->newest = index;
	return request;
}

/* A new request at the end of its handle's queue; NULL when memory is short. */
static struct skelgen_request *append(struct skelgen_requests *table, uint64_t handle)
{
	struct skelgen_queue *queue = find(table, handle);

	if (queue->oldest.flags)
		return queue_up(table, queue);
	if (unlikely(!queue->handle)) {
		if (2 * (table->queues_used + 1) > table->queue_room) {
			if (!more_queues(table))
				return NULL;
			queue = find(table, handle);
		}
		table->queues_used++;
		queue->handle = handle;
	}
	return &queue->oldest;
}

static void enqueue(struct skelgen_requests *table, uint64_t handle, struct skelgen_request made)
{
	struct skelgen_request *request = append(table, handle);

	if (likely(request))
		*request = made;
	else if (skelgen_is_watched(made.flags))
		skelgen_watch(-1);
}

/* Move the recent requests to the queues. */
static SKELGEN_COLD void settle(struct skelgen_stream *s)
{
	struct skelgen_requests *table = &s->made;
	uint64_t number = s->requests - SKELGEN_RECENT;

	while (table->live) {
		size_t place = ++number % SKELGEN_RECENT;
		uint64_t bit = (uint64_t)1 << place;
		unsigned flags = table->watched & bit ? SKELGEN_REQUEST_WATCHED : 0;

		if (!(table->live & bit))
			continue;
		table->live &= ~bit;
		table->watched &= ~bit;
		enqueue(table, table->recent[place].handle,
			(struct skelgen_request){.number = number,
						 .made = table->recent[place].made,
						 .flags = flags | SKELGEN_REQUEST_LIVE});
	}
}

/* A request that is not an ordinary one, or has no place among the recent ones. */
SKELGEN_COLD void skelgen_request_other(struct skelgen_stream *s, uint64_t handle, unsigned flags,
					uint64_t end)
{
	struct skelgen_request made = {.made = end, .flags = flags | SKELGEN_REQUEST_LIVE};

	lock(&s->made, true);
	settle(s);
	if (likely(!skelgen.paused))
		made.number = flags & SKELGEN_REQUEST_PERSISTENT ? ++s->persistent : ++s->requests;
	if (handle != (uint64_t)(uintptr_t)mpi.request_null) {
		if (skelgen_is_watched(flags))
			skelgen_watch(1);
		enqueue(&s->made, handle, made);
	}
	skelgen_unlock_table(&s->made, true);
}

/* Which other thread made the oldest request with this handle? The process's lock is held. */
static struct skelgen_stream *maker(const struct skelgen_stream *s, uint64_t handle)
{
	struct skelgen_stream *found = NULL;
	uint64_t earliest = UINT64_MAX;

	for (struct skelgen_stream *other = skelgen.streams; other; other = other->next) {
		const struct skelgen_request *oldest;

		if (other == s)
			continue;
		lock(&other->made, false);
		settle(other);
		oldest = &find(&other->made, handle)->oldest;
		if (oldest->flags && oldest->made < earliest) {
			earliest = oldest->made;
			found = other;
		}
		skelgen_unlock_table(&other->made, false);
	}
	return found;
}

/*
 * Find the requests with a handle and keep the table in which they stand locked: this thread's
 * own, or that of the thread that made them. Returns that thread's stream; NULL, and nothing is
 * locked: none is known.
 */
struct skelgen_stream *skelgen_lock_queue(struct skelgen_stream *s, uint64_t handle,
					  struct skelgen_queue **queue)
{
	lock(&s->made, true);
	settle(s);
	*queue = find(&s->made, handle);
	if (likely((*queue)->oldest.flags))
		return s;
	skelgen_unlock_table(&s->made, true);
	if (handle == (uint64_t)(uintptr_t)mpi.request_null)
		return NULL;
	skelgen_lock();
	s = maker(s, handle);
	if (s) {
		lock(&s->made, false);
		settle(s);
		*queue = find(&s->made, handle);
		if (!(*queue)->oldest.flags) {
			skelgen_unlock_table(&s->made, false);
			s = NULL;
		}
	}
	skelgen_unlock();
	return s;
}

void skelgen_remove_oldest(struct skelgen_requests *table, struct skelgen_queue *queue)
{
	uint32_t index = queue->oldest.next;

	queue->oldest.flags = 0;
	if (index == NONE)
		return;
	queue->oldest = table->more[index];
	table->more[index].next = table->free;
	table->free = index;
}
