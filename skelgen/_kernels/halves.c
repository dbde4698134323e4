/* SPDX-License-Identifier: BSD-3-Clause */
#include "halves.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "../../pmpi_shim/skelgen_record.h"
#include "halves_table.h"
#include "halves_pool.h"
#include "halves_columns.h"
#include "halves_match.h"
#include "halves_elements.h"
#include "decode.h"

#define SAME(field) \
	(offsetof(struct skelgen_half_status, field) == offsetof(struct skelgen_status, field))
_Static_assert(sizeof(struct skelgen_half_status) == sizeof(struct skelgen_status) && SAME(event) &&
		       SAME(position) && SAME(source) && SAME(tag),
	       "statuses of the decoder are taken as they are");

/* A half that was begun and has not ended. */
struct begun {
	uint32_t next;
	struct half half;
};

/* The parts of one call, in the order of their roles. */
struct posted {
	struct half halves[5];
	int count;
};

/* A persistent request: the call that made it. */
struct kept {
	uint32_t next;
	struct skelgen_half_variant variant;
	int64_t size_bytes;
	int32_t sides;
};

struct skelgen_half_tables {
	struct table open; /* first half of a request, by thread and number */
	struct pool begun;
	struct table persistent;
	struct pool kept;
};

struct skelgen_half_tables *skelgen_half_tables_new(void)
{
	struct skelgen_half_tables *tables = calloc(1, sizeof(*tables));

	if (tables) {
		tables->begun = (struct pool){.width = sizeof(struct begun), .free = NO_ROW};
		tables->kept = (struct pool){.width = sizeof(struct kept), .free = NO_ROW};
	}
	return tables;
}

void skelgen_half_tables_free(struct skelgen_half_tables *tables)
{
	if (tables) {
		free(tables->open.entries);
		free(tables->begun.rows);
		free(tables->persistent.entries);
		free(tables->kept.rows);
	}
	free(tables);
}

/* World rank of a rank of a communicator; -1: there is none. */
static int32_t partner_of(const struct skelgen_follow *f, int32_t communicator, int32_t peer)
{
	int64_t first;

	if (communicator < 0 || peer < 0)
		return -1;
	first = f->group_first[communicator];
	return peer < f->group_first[communicator + 1] - first ? f->groups[first + peer] : -1;
}

#include "halves_sources.h"

static void post_part(struct skelgen_follow *f, struct skelgen_half_thread *thread,
		      const struct half *like, int32_t role, int32_t peer, int32_t tag,
		      struct posted *posted)
{
	const struct skelgen_half_call *call = &f->calls[like->call];
	struct half *half;

	if (peer == SKELGEN_PROC_NULL)
		return;
	half = &posted->halves[posted->count++];
	*half = *like;
	half->role = role;
	half->peer = peer;
	half->partner = partner_of(f, call->communicator, peer);
	half->tag = tag;
	half->ordinal = role <= SKELGEN_ROLE_RECEIVE ? thread->messages++ : -1;
	if (role == SKELGEN_ROLE_RECEIVE && half->request && (call->wild_source || call->wild_tag))
		resolve(f, thread, half);
	put_half(&f->posts, f->post_count++, half);
}

/* Post all parts of a call, as a half that is like another. */
static void post(struct skelgen_follow *f, struct skelgen_half_thread *thread,
		 const struct skelgen_half_variant *v, const struct half *like,
		 struct posted *posted)
{
	uint8_t parts = f->calls[like->call].parts;

	posted->count = 0;
	if (parts & SKELGEN_HALVES_SENDS)
		post_part(f, thread, like, SKELGEN_ROLE_SEND, v->peer, v->tag, posted);
	if (parts & SKELGEN_HALVES_RECEIVES)
		post_part(f, thread, like, SKELGEN_ROLE_RECEIVE, v->peer, v->tag, posted);
	if (parts & SKELGEN_HALVES_RECEIVES_SECOND)
		post_part(f, thread, like, SKELGEN_ROLE_RECEIVE, v->peer2, v->tag2, posted);
	if (parts & SKELGEN_HALVES_COLLECTIVE)
		post_part(f, thread, like, SKELGEN_ROLE_COLLECTIVE, -1, -1, posted);
	if (parts & SKELGEN_HALVES_OTHER)
		post_part(f, thread, like, SKELGEN_ROLE_OTHER, -1, -1, posted);
}

/* Keep the halves that were posted as those of a request. */
static int keep_open(struct skelgen_follow *f, uint64_t thread, const struct posted *posted)
{
	struct skelgen_half_tables *t = f->tables;
	uint32_t next = NO_ROW;

	for (int i = posted->count - 1; i >= 0; i--) {
		uint32_t row = take_row(&t->begun);

		if (row == NO_ROW)
			return -1;
		((struct begun *)row_of(&t->begun, row))->half = posted->halves[i];
		link_row(&t->begun, row, next);
		next = row;
	}
	if (next == NO_ROW)
		return 0;
	return put_entry(&t->open, thread, (uint64_t)posted->halves[0].request, next);
}

/* End the halves of a request. */
static void end_open(struct skelgen_follow *f, uint64_t thread, int64_t number)
{
	struct skelgen_half_tables *t = f->tables;
	struct entry *entry = find_entry(&t->open, thread, (uint64_t)number);
	uint32_t row = entry ? entry->row - 1 : NO_ROW;

	if (entry)
		take_entry(&t->open, entry);
	while (row != NO_ROW) {
		uint32_t next = next_row(&t->begun, row);
		struct half *half = &((struct begun *)row_of(&t->begun, row))->half;

		half->event = (int32_t)f->event_count;
		put_half(&f->ends, f->end_count++, half);
		give_row(&t->begun, row);
		row = next;
	}
}

static int keep_persistent(struct skelgen_follow *f, uint64_t thread, int64_t number,
			   const struct skelgen_half_variant *variant, const struct half *like)
{
	uint32_t row = take_row(&f->tables->kept);
	struct kept *kept;

	if (row == NO_ROW)
		return -1;
	kept = row_of(&f->tables->kept, row);
	kept->variant = *variant;
	kept->size_bytes = like->size_bytes;
	kept->sides = like->sides;
	return put_entry(&f->tables->persistent, thread, (uint64_t)number, row);
}

static int start(struct skelgen_follow *f, uint64_t at, const struct elements *elements,
		 const struct half *like)
{
	struct skelgen_half_thread *thread = &f->threads[at];

	for (int64_t i = 0; i < elements->count; i++) {
		struct entry *entry =
			find_entry(&f->tables->persistent, at, (uint64_t)-element(elements, i));
		struct half half = *like;
		const struct kept *kept;
		struct posted posted;

		half.request = ++thread->made;
		if (!entry)
			continue;
		kept = row_of(&f->tables->kept, entry->row - 1);
		half.call = kept->variant.call;
		half.root = kept->variant.peer;
		half.size_bytes = kept->size_bytes;
		half.sides = kept->sides;
		post(f, thread, &kept->variant, &half, &posted);
		if (keep_open(f, at, &posted))
			return -1;
	}
	return 0;
}

static void end(struct skelgen_follow *f, uint64_t at, const struct elements *elements,
		bool releases)
{
	struct skelgen_half_thread *thread = &f->threads[at];

	for (int64_t i = 0; i < elements->count; i++) {
		int64_t one = element(elements, i);

		if (one > 0) {
			end_open(f, at, thread->made - one + 1);
		} else if (releases && one < 0) {
			struct entry *entry =
				find_entry(&f->tables->persistent, at, (uint64_t)-one);

			if (!entry)
				continue;
			give_row(&f->tables->kept, entry->row - 1);
			take_entry(&f->tables->persistent, entry);
		}
	}
	while (thread->foreign_next < thread->foreign_count &&
	       thread->foreign[thread->foreign_next].event == thread->event) {
		const struct skelgen_half_foreign *other = &thread->foreign[thread->foreign_next++];

		if (other->thread >= 0 && other->thread < f->thread_count)
			end_open(f, (uint64_t)other->thread, other->number);
	}
}

static void end_at_once(struct skelgen_follow *f, const struct posted *posted)
{
	for (int i = 0; i < posted->count; i++)
		put_half(&f->ends, f->end_count++, &posted->halves[i]);
}

/* Post and end what the event does. */
static int act(struct skelgen_follow *f, uint64_t at, const struct skelgen_half_variant *variant,
	       const struct elements *elements, struct half *like)
{
	struct skelgen_half_thread *thread = &f->threads[at];
	uint8_t action = f->calls[variant->call].action;
	struct posted posted;

	switch (action) {
	case SKELGEN_HALVES_BLOCKS:
		post(f, thread, variant, like, &posted);
		end_at_once(f, &posted);
		return 0;
	case SKELGEN_HALVES_CREATES:
		like->request = ++thread->made;
		post(f, thread, variant, like, &posted);
		return keep_open(f, at, &posted);
	case SKELGEN_HALVES_KEEPS:
		return keep_persistent(f, at, ++thread->persistent_made, variant, like);
	case SKELGEN_HALVES_STARTS:
		return start(f, at, elements, like);
	default:
		end(f, at, elements, action == SKELGEN_HALVES_RELEASES);
		return 0;
	}
}

/* Requests of other threads that the next event ends; those of events before it are passed. */
static int64_t foreign_count(struct skelgen_half_thread *thread)
{
	int64_t next;

	while (thread->foreign_next < thread->foreign_count &&
	       thread->foreign[thread->foreign_next].event < thread->event)
		thread->foreign_next++;
	next = thread->foreign_next;
	while (next < thread->foreign_count && thread->foreign[next].event == thread->event)
		next++;
	return next - thread->foreign_next;
}

static void put_event(const struct skelgen_follow *f, const struct skelgen_half_thread *thread,
		      const struct skelgen_half_variant *v, const struct half *like)
{
	const struct skelgen_half_events *e = &f->events;
	int32_t communicator = f->calls[v->call].communicator;
	int64_t i = f->event_count;

	e->enter_ns[i] = like->begin_ns;
	e->leave_ns[i] = thread->leave_ns[thread->event];
	if (f->only_times)
		return;
	e->compute_ns[i] = thread->compute_ns[thread->event];
	e->size_bytes[i] = like->size_bytes;
	e->stream[i] = thread->stream;
	e->call[i] = v->call;
	e->peer[i] = v->peer;
	e->partner[i] = partner_of(f, communicator, v->peer);
	e->tag[i] = v->tag;
	e->peer2[i] = v->peer2;
	e->partner2[i] = partner_of(f, communicator, v->peer2);
	e->tag2[i] = v->tag2;
	e->sides[i] = like->sides;
}

/* Take the next event of a thread. */
static int step(struct skelgen_follow *f, uint64_t at)
{
	struct skelgen_half_thread *thread = &f->threads[at];
	int64_t i = thread->event;
	const struct skelgen_half_variant *v = &thread->variants[thread->variant[i]];
	const struct elements elements = elements_of(thread, thread->reference[i]);
	struct half like = {
		.size_bytes = thread->size_bytes[i],
		.begin_ns = thread->enter_ns[i],
		.event = (int32_t)f->event_count,
		.stream = thread->stream,
		.call = v->call,
		.by = v->call,
		.root = v->peer,
		.sides = thread->sides ? thread->sides[i] : -1,
	};
	int64_t posts = f->post_count, ends = f->end_count;

	if (f->event_count == f->event_capacity)
		return SKELGEN_HALVES_FULL;
	if (2 * (elements.count + foreign_count(thread) + 1) >
	    f->half_capacity - (f->post_count > f->end_count ? f->post_count : f->end_count))
		return f->event_count ? SKELGEN_HALVES_FULL : SKELGEN_HALVES_GROW;
	if (act(f, at, v, &elements, &like))
		return SKELGEN_HALVES_NO_MEMORY;
	put_event(f, thread, v, &like);
	f->events.post_first[f->event_count] = (int32_t)posts;
	f->events.post_count[f->event_count] = (int32_t)(f->post_count - posts);
	f->events.end_count[f->event_count] = (int32_t)(f->end_count - ends);
	f->event_count++;
	thread->event++;
	return SKELGEN_HALVES_DONE;
}

/* Follow the requests of a rank through its events in order of time. */
int skelgen_follow(struct skelgen_follow *f)
{
	for (;;) {
		int64_t earliest = -1;
		int stop;

		for (int64_t at = 0; at < f->thread_count; at++) {
			const struct skelgen_half_thread *thread = &f->threads[at];

			if (thread->event == thread->event_count) {
				f->wanted = at;
				if (!thread->ended)
					return SKELGEN_HALVES_NEXT;
			} else if (earliest < 0 ||
				   thread->enter_ns[thread->event] <
					   f->threads[earliest]
						   .enter_ns[f->threads[earliest].event]) {
				earliest = at;
			}
		}
		if (earliest < 0)
			return SKELGEN_HALVES_DONE;
		stop = step(f, (uint64_t)earliest);
		if (stop != SKELGEN_HALVES_DONE)
			return stop;
	}
}
