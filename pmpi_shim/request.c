/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From request handles to request numbers. MPI libraries return one handle for several requests
 * that completed at once, so a handle leads to a queue: the oldest request completes first.
 *
 * Most programs complete in each step the same requests as in the step before, and soon after
 * they were made. So the latest requests are kept by number, and a completion looks first whether
 * those that the predicted event completes have the handles that it was given. Whatever is not
 * so simple moves them to the queues.
 *
 * Each stream has a table of the requests that its thread made. A thread looks into its own
 * first and finds nearly always what it looks for, so threads do not wait for each other, and
 * of equal handles it gets its own.
 */
#include "recorder.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NONE 0u
#define LIVE 0x100u /* beside enum skelgen_request_flags: there is a request */

struct skelgen_request {
	uint64_t number; /* request, or persistent request; 0: made while recording paused */
	uint64_t active; /* of a persistent one: the request that its last start made, or 0 */
	uint64_t made;   /* when [units] */
	uint32_t next;   /* with the same handle, of those that stand in `more` */
	uint32_t flags;  /* LIVE, enum skelgen_request_flags; 0: no request */
};

/* Handles whose requests are all complete keep their place until room is short. */
struct skelgen_queue {
	uint64_t handle;               /* 0: free; handles are never 0 */
	struct skelgen_request oldest; /* without flags its `next` is NONE */
	uint32_t newest;               /* of those in `more` */
};

/* What a completion learns about a request. */
struct taken {
	uint64_t number;
	unsigned flags;
	int thread; /* whose stream numbered it */
};

uint64_t skelgen_watched;

static void share(struct skelgen_requests *table)
{
	__atomic_store_n(&table->shared, true, __ATOMIC_RELAXED);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	while (__atomic_load_n(&table->busy, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Whether share() can be relied on. Asked under the lock of the process, as tables are made. */
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

static void unlock(struct skelgen_requests *table, bool own)
{
	if (own && table->busy)
		skelgen_requests_leave(table);
	else if (unlikely(skelgen.multiple))
		__atomic_clear(&table->locked, __ATOMIC_RELEASE);
}

/* Requests whose completion has to look at the status. */
static bool watched(unsigned flags)
{
	return flags &
	       (SKELGEN_REQUEST_WATCHED | SKELGEN_REQUEST_PROMISE | SKELGEN_REQUEST_CANCELLED);
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
	return request->flags & LIVE &&
	       (!(request->flags & SKELGEN_REQUEST_PERSISTENT) || request->active);
}

/* Whether a request was made or started and is not complete. */
bool skelgen_requests_active(const struct skelgen_requests *table)
{
	if (table->live)
		return true;
	for (size_t i = 0; i < table->queue_room; i++) {
		const struct skelgen_request *one = &table->queues[i].oldest;

		while (one->flags & LIVE) {
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
	else if (watched(made.flags))
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
						 .flags = flags | LIVE});
	}
}

/* A request that is not an ordinary one, or has no place among the recent ones. */
SKELGEN_COLD void skelgen_request_other(struct skelgen_stream *s, uint64_t handle, unsigned flags,
					uint64_t end)
{
	struct skelgen_request made = {.made = end, .flags = flags | LIVE};

	lock(&s->made, true);
	settle(s);
	if (likely(!skelgen.paused))
		made.number = flags & SKELGEN_REQUEST_PERSISTENT ? ++s->persistent : ++s->requests;
	if (handle != (uint64_t)(uintptr_t)mpi.request_null) {
		if (watched(flags))
			skelgen_watch(1);
		enqueue(&s->made, handle, made);
	}
	unlock(&s->made, true);
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
		unlock(&other->made, false);
	}
	return found;
}

/*
 * Find the requests with a handle and keep the table in which they stand locked: this thread's
 * own, or that of the thread that made them. Returns that thread's stream; NULL, and nothing is
 * locked: none is known.
 */
static struct skelgen_stream *lock_queue(struct skelgen_stream *s, uint64_t handle,
					 struct skelgen_queue **queue)
{
	lock(&s->made, true);
	settle(s);
	*queue = find(&s->made, handle);
	if (likely((*queue)->oldest.flags))
		return s;
	unlock(&s->made, true);
	if (handle == (uint64_t)(uintptr_t)mpi.request_null)
		return NULL;
	skelgen_lock();
	s = maker(s, handle);
	if (s) {
		lock(&s->made, false);
		settle(s);
		*queue = find(&s->made, handle);
		if (!(*queue)->oldest.flags) {
			unlock(&s->made, false);
			s = NULL;
		}
	}
	skelgen_unlock();
	return s;
}

static void remove_oldest(struct skelgen_requests *table, struct skelgen_queue *queue)
{
	uint32_t index = queue->oldest.next;

	queue->oldest.flags = 0;
	if (index == NONE)
		return;
	queue->oldest = table->more[index];
	table->more[index].next = table->free;
	table->free = index;
}

/* Take the oldest active request with this handle; false: none is known. */
static bool take(struct skelgen_stream *s, uint64_t handle, struct taken *taken)
{
	struct skelgen_queue *queue;
	struct skelgen_stream *owner = lock_queue(s, handle, &queue);
	struct skelgen_request *oldest;

	if (!owner)
		return false;
	oldest = &queue->oldest;
	taken->flags = oldest->flags;
	taken->thread = owner->thread;
	if (unlikely(oldest->flags & SKELGEN_REQUEST_PERSISTENT)) {
		taken->number = oldest->active;
		oldest->active = 0;
		oldest->flags &= ~(unsigned)SKELGEN_REQUEST_CANCELLED;
		if (watched(taken->flags) && !watched(oldest->flags))
			skelgen_watch(-1);
	} else {
		taken->number = oldest->number;
		remove_oldest(&owner->made, queue);
		if (unlikely(watched(taken->flags)))
			skelgen_watch(-1);
	}
	unlock(&owner->made, owner == s);
	return taken->number || !(taken->flags & SKELGEN_REQUEST_PERSISTENT);
}

/* Room for n ages; false when memory is short. */
static bool begin_ages(struct skelgen_stream *s, size_t n)
{
	s->age_count = 0;
	return likely(n <= s->ages_room) ||
	       skelgen_room((void **)&s->ages, &s->ages_room, n, sizeof(*s->ages));
}

static void add_foreign(struct skelgen_stream *s, const struct taken *taken)
{
	if (!skelgen_room((void **)&s->foreign, &s->foreign_room, s->foreign_count + 1,
			  sizeof(*s->foreign)))
		return;
	s->foreign[s->foreign_count].thread = (uint32_t)taken->thread;
	s->foreign[s->foreign_count++].number = taken->number;
	s->special |= SKELGEN_SPECIAL_FOREIGN;
}

static void add_status(struct skelgen_stream *s, const MPI_Status *status, bool cancelled)
{
	struct skelgen_status_entry *entry;

	if (unlikely(s->status_count == s->status_room) &&
	    !skelgen_room((void **)&s->statuses, &s->status_room, s->status_count + 1,
			  sizeof(*s->statuses)))
		return;
	if (s->status_count == SKELGEN_FEW_STATUSES)
		s->special |= SKELGEN_SPECIAL_STATUSES;
	entry = &s->statuses[s->status_count++];
	entry->position = (uint32_t)s->age_count;
	entry->source = cancelled ? SKELGEN_CANCELLED : skelgen_peer(status->MPI_SOURCE);
	entry->tag = cancelled ? SKELGEN_NO_TAG : skelgen_tag(status->MPI_TAG);
	s->special |= SKELGEN_SPECIAL_STATUS;
}

/* What the status of the request says that was watched and whose age comes next. */
static void look(struct skelgen_stream *s, unsigned flags, const MPI_Status *status)
{
	int cancelled = 0;

	if (!status || status == MPI_STATUS_IGNORE)
		return;
	if (flags & SKELGEN_REQUEST_CANCELLED)
		pmpi.Test_cancelled(status, &cancelled);
	if (cancelled || flags & SKELGEN_REQUEST_WATCHED)
		add_status(s, status, cancelled);
}

/* Of a recent request that is complete now the status was wanted. */
void skelgen_look(struct skelgen_stream *s, uint64_t bit, const MPI_Status *status)
{
	s->made.watched &= ~bit;
	skelgen_watch(-1);
	look(s, SKELGEN_REQUEST_WATCHED, status);
}

/* One of the requests that a call completed. There is room for its age. */
static void complete(struct skelgen_stream *s, uint64_t handle, const MPI_Status *status)
{
	struct taken taken;

	if (!take(s, handle, &taken))
		return;
	if (unlikely(taken.flags & SKELGEN_REQUEST_PROMISE)) {
		skelgen_lock();
		skelgen_comm_fulfil(((uint64_t)taken.thread + 1) << 48 | taken.number);
		skelgen_unlock();
	}
	if (!taken.number || skelgen.paused)
		return;
	if (unlikely(taken.thread != s->thread)) {
		add_foreign(s, &taken);
		return;
	}
	if (unlikely(watched(taken.flags)))
		look(s, taken.flags, status);
	s->ages[s->age_count++] = (int64_t)(s->requests - taken.number + 1);
}

/* Keep the handles that a completion is given: it overwrites them. */
void skelgen_hold(struct skelgen_stream *s, size_t n, const MPI_Request requests[])
{
	uint64_t *held = s->held;

	if (!requests)
		return;
	if (unlikely(n > s->held_room)) {
		if (!skelgen_room((void **)&s->held, &s->held_room, n, sizeof(*s->held)))
			return;
		held = s->held;
	}
	for (size_t i = 0; i < n; i++)
		held[i] = (uint64_t)(uintptr_t)requests[i];
}

/* Statuses for a program that passes none, while we need some. */
MPI_Status *skelgen_own_statuses(struct skelgen_stream *s, size_t n)
{
	if (unlikely(n >= s->own_statuses_room) &&
	    !skelgen_room((void **)&s->own_statuses, &s->own_statuses_room, n + 1,
			  sizeof(*s->own_statuses)))
		return MPI_STATUSES_IGNORE;
	return s->own_statuses;
}

/*
 * The recent requests of these ages as bits, if they are the n held ones, null requests aside;
 * else 0.
 */
static uint64_t foreseen(const struct skelgen_stream *s, size_t n, const int64_t ages[],
			 size_t count)
{
	const uint64_t none = (uint64_t)(uintptr_t)mpi.request_null;
	const struct skelgen_requests *table = &s->made;
	uint64_t bits = 0;
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t age = done < count ? (uint64_t)ages[done] : UINT64_MAX;
		size_t place = (s->requests + 1 - age) % SKELGEN_RECENT;

		if (likely(age <= SKELGEN_RECENT && table->recent[place].handle == s->held[i])) {
			bits |= (uint64_t)1 << place;
			done++;
		} else if (s->held[i] != none) {
			return 0;
		}
	}
	return done == count ? bits : 0;
}

/* Of the n held requests, which are recent and complete now, some statuses were wanted. */
static __attribute__((noinline)) void look_at_all(struct skelgen_stream *s, size_t n,
						  const int64_t ages[], const MPI_Status *statuses)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t bit;

		if (s->held[i] == (uint64_t)(uintptr_t)mpi.request_null)
			continue;
		bit = (uint64_t)1 << (s->requests + 1 - (uint64_t)ages[done]) % SKELGEN_RECENT;
		s->age_count = done++;
		if (s->made.watched & bit)
			skelgen_look(s, bit, statuses ? statuses + i : NULL);
	}
}

/* The reference of the n held requests, which are complete. */
uint64_t skelgen_completed_all(struct skelgen_stream *s, size_t n, const MPI_Status statuses[])
{
	const MPI_Status *known = statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
	struct skelgen_requests *table = &s->made;
	const int64_t *ages;
	size_t count;

	if (!begin_ages(s, n) || n > s->held_room)
		return SKELGEN_REF_NONE;
	ages = skelgen_predicted_list(s, &count);
	if (likely(ages && !skelgen.paused && skelgen_requests_enter(table))) {
		uint64_t bits = foreseen(s, n, ages, count);

		if (likely(bits && !(bits & ~table->live))) {
			table->live &= ~bits;
			if (unlikely(table->watched & bits))
				look_at_all(s, n, ages, known);
			skelgen_requests_leave(table);
			return s->predicted->reference;
		}
	}
	skelgen_requests_leave(table);
	for (size_t i = 0; i < n; i++)
		complete(s, s->held[i], known ? known + i : NULL);
	return skelgen_list(s);
}

uint64_t skelgen_completed_other(struct skelgen_stream *s, uint64_t handle,
				 const MPI_Status *status)
{
	if (!begin_ages(s, 1))
		return SKELGEN_REF_NONE;
	complete(s, handle, status);
	return skelgen_list(s);
}

/* The same where the call failed, whose request's handle is `now` another, if it is complete. */
uint64_t skelgen_completed_failing(struct skelgen_stream *s, uint64_t held, uint64_t now)
{
	if (now != (uint64_t)(uintptr_t)mpi.request_null)
		return SKELGEN_REF_NONE;
	return skelgen_completed_other(s, held, NULL);
}

/*
 * A completion of the n held requests failed: hold only those that are complete, in whatever way.
 * Of persistent ones only statuses tell, where the error's class says that they do.
 */
void skelgen_gone(struct skelgen_stream *s, size_t n, const MPI_Request requests[],
		  const MPI_Status statuses[], int code)
{
	bool told = false;
	int class = 0;

	pmpi.Error_class(code, &class);
	if (class == MPI_ERR_IN_STATUS)
		told = statuses && statuses != MPI_STATUSES_IGNORE;
	for (size_t i = 0; requests && i < n && i < s->held_room; i++)
		if (requests[i] != mpi.request_null &&
		    !(told && statuses[i].MPI_ERROR != MPI_ERR_PENDING))
			s->held[i] = (uint64_t)(uintptr_t)mpi.request_null;
}

/* The same of those of the held requests whose n indices are given, counted from `first`. */
uint64_t skelgen_completed_some(struct skelgen_stream *s, size_t n, const int indices[], int first,
				const MPI_Status statuses[])
{
	const MPI_Status *known = statuses == MPI_STATUSES_IGNORE ? NULL : statuses;

	if (!begin_ages(s, n))
		return SKELGEN_REF_NONE;
	for (size_t i = 0; i < n; i++) {
		size_t index = (size_t)(indices[i] - first);

		if (index >= s->held_room)
			continue;
		if (n == 1)
			return skelgen_completed_one(s, s->held[index], known);
		complete(s, s->held[index], known ? known + i : NULL);
	}
	return skelgen_list(s);
}

/* A persistent request was started: that makes a request. Only its maker names it. */
static void start(struct skelgen_stream *s, uint64_t handle)
{
	struct skelgen_queue *queue;
	struct skelgen_stream *owner = lock_queue(s, handle, &queue);
	struct skelgen_request *oldest;

	if (!owner)
		return;
	oldest = &queue->oldest;
	if (oldest->flags & SKELGEN_REQUEST_PERSISTENT && oldest->number) {
		oldest->active = 0;
		if (owner == s && !skelgen.paused) {
			s->ages[s->age_count++] = -(int64_t)oldest->number;
			oldest->active = ++s->requests; /* lock_queue() left nothing recent */
		}
	}
	unlock(&owner->made, owner == s);
}

/* The held persistent requests were started. */
uint64_t skelgen_started(struct skelgen_stream *s, size_t n)
{
	if (!begin_ages(s, n))
		return SKELGEN_REF_NONE;
	for (size_t i = 0; i < n && i < s->held_room; i++)
		start(s, s->held[i]);
	return skelgen_list(s);
}

/* Request_free: the handle will come back for another request. */
uint64_t skelgen_released(struct skelgen_stream *s, uint64_t handle)
{
	struct skelgen_queue *queue;
	struct skelgen_stream *owner;
	const struct skelgen_request *oldest;

	if (!begin_ages(s, 1))
		return SKELGEN_REF_NONE;
	owner = lock_queue(s, handle, &queue);
	if (!owner)
		return SKELGEN_REF_NONE;
	oldest = &queue->oldest;
	if (oldest->number && owner == s)
		s->ages[s->age_count++] = oldest->flags & SKELGEN_REQUEST_PERSISTENT
						  ? -(int64_t)oldest->number
						  : (int64_t)(s->requests - oldest->number + 1);
	if (watched(oldest->flags))
		skelgen_watch(-1);
	remove_oldest(&owner->made, queue);
	unlock(&owner->made, owner == s);
	return skelgen_list(s);
}

/* Cancel: from now on its status may say that it was cancelled. */
uint64_t skelgen_cancelled(struct skelgen_stream *s, uint64_t handle)
{
	struct skelgen_queue *queue;
	struct skelgen_stream *owner;
	struct skelgen_request *oldest;
	uint64_t number;

	if (!begin_ages(s, 1))
		return SKELGEN_REF_NONE;
	owner = lock_queue(s, handle, &queue);
	if (!owner)
		return SKELGEN_REF_NONE;
	oldest = &queue->oldest;
	number = oldest->flags & SKELGEN_REQUEST_PERSISTENT ? oldest->active : oldest->number;
	if (!watched(oldest->flags))
		skelgen_watch(1);
	oldest->flags |= SKELGEN_REQUEST_CANCELLED;
	if (number && owner == s)
		s->ages[s->age_count++] = (int64_t)(s->requests - number + 1);
	unlock(&owner->made, owner == s);
	return skelgen_list(s);
}
