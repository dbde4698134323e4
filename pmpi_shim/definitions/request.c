/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From request handles to request numbers: which requests a call completed, started or cancelled.
 *
 * Most programs complete in each step the same requests as in the step before, and soon after
 * they were made. So the latest requests are kept by number, and a completion looks first whether
 * those that the predicted event completes have the handles that it was given. Only others are
 * looked up (request_table.c).
 */
#include "definitions/request.h"

#include "base/array.h"
#include "base/mpi_library.h"
#include "definitions/pending_comm.h"
#include "event/event.h"
#include "intern/interned.h"

/* What a completion learns about a request. */
struct taken {
	uint64_t number;
	unsigned flags;
	int thread; /* whose stream numbered it */
};

/* Take the oldest active request with this handle; false: none is known. */
static bool take(struct skelgen_stream *s, uint64_t handle, struct taken *taken)
{
	struct skelgen_queue *queue;
	struct skelgen_stream *owner = skelgen_lock_queue(s, handle, &queue);
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
		if (skelgen_is_watched(taken->flags) && !skelgen_is_watched(oldest->flags))
			skelgen_watch(-1);
	} else {
		taken->number = oldest->number;
		skelgen_remove_oldest(&owner->made, queue);
		if (unlikely(skelgen_is_watched(taken->flags)))
			skelgen_watch(-1);
	}
	skelgen_unlock_table(&owner->made, owner == s);
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
	if (unlikely(skelgen_is_watched(taken.flags)))
		look(s, taken.flags, status);
	s->ages[s->age_count++] = (int64_t)(s->requests - taken.number + 1);
}

/* Keep the handles that a completion is given: it overwrites them. */
void skelgen_hold(struct skelgen_stream *s, size_t n, const MPI_Request requests[])
{
	if (!requests || !n)
		return;
	if (unlikely(n > s->held_room) &&
	    !skelgen_room((void **)&s->held, &s->held_room, n, sizeof(*s->held)))
		return;
	memcpy(s->held, requests, n * sizeof(*requests));
}

SKELGEN_INLINE uint64_t held_at(const struct skelgen_stream *s, size_t i)
{
	return (uint64_t)(uintptr_t)s->held[i];
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

		if (likely(age <= SKELGEN_RECENT && table->recent[place].handle == held_at(s, i))) {
			bits |= (uint64_t)1 << place;
			done++;
		} else if (held_at(s, i) != none) {
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

		if (s->held[i] == mpi.request_null)
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
		complete(s, held_at(s, i), known ? known + i : NULL);
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
			s->held[i] = mpi.request_null;
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
			return skelgen_completed_one(s, held_at(s, index), known);
		complete(s, held_at(s, index), known ? known + i : NULL);
	}
	return skelgen_list(s);
}

/* A persistent request was started: that makes a request. Only its maker names it. */
static void start(struct skelgen_stream *s, uint64_t handle)
{
	struct skelgen_queue *queue;
	struct skelgen_stream *owner = skelgen_lock_queue(s, handle, &queue);
	struct skelgen_request *oldest;

	if (!owner)
		return;
	oldest = &queue->oldest;
	if (oldest->flags & SKELGEN_REQUEST_PERSISTENT && oldest->number) {
		oldest->active = 0;
		if (owner == s && !skelgen.paused) {
			s->ages[s->age_count++] = -(int64_t)oldest->number;
			oldest->active =
				++s->requests; /* skelgen_lock_queue() left nothing recent */
		}
	}
	skelgen_unlock_table(&owner->made, owner == s);
}

/* The held persistent requests were started. */
uint64_t skelgen_started(struct skelgen_stream *s, size_t n)
{
	if (!begin_ages(s, n))
		return SKELGEN_REF_NONE;
	for (size_t i = 0; i < n && i < s->held_room; i++)
		start(s, held_at(s, i));
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
	owner = skelgen_lock_queue(s, handle, &queue);
	if (!owner)
		return SKELGEN_REF_NONE;
	oldest = &queue->oldest;
	if (oldest->number && owner == s)
		s->ages[s->age_count++] = oldest->flags & SKELGEN_REQUEST_PERSISTENT
						  ? -(int64_t)oldest->number
						  : (int64_t)(s->requests - oldest->number + 1);
	if (skelgen_is_watched(oldest->flags))
		skelgen_watch(-1);
	skelgen_remove_oldest(&owner->made, queue);
	skelgen_unlock_table(&owner->made, owner == s);
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
	owner = skelgen_lock_queue(s, handle, &queue);
	if (!owner)
		return SKELGEN_REF_NONE;
	oldest = &queue->oldest;
	number = oldest->flags & SKELGEN_REQUEST_PERSISTENT ? oldest->active : oldest->number;
	if (!skelgen_is_watched(oldest->flags))
		skelgen_watch(1);
	oldest->flags |= SKELGEN_REQUEST_CANCELLED;
	if (number && owner == s)
		s->ages[s->age_count++] = (int64_t)(s->requests - number + 1);
	skelgen_unlock_table(&owner->made, owner == s);
	return skelgen_list(s);
}
