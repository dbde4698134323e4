/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Different polls that find nothing, in turn: a program that asks for a message, then whether a
 * send is complete, then for a message again would have a record for each poll, and millions of
 * them. Each kind is one record of all its polls here. In which order they came is not kept: none
 * found anything.
 */
#include "event/failed_polls.h"

#include <string.h>

/* Whether a poll that begins now can belong to those that are held back. */
static bool goes_on(const struct skelgen_stream *s, uint64_t begin)
{
	return (s->special | SKELGEN_SPECIAL_STACK) ==
		       (SKELGEN_SPECIAL_POLL | SKELGEN_SPECIAL_STACK) &&
	       begin - s->last_end < skelgen.polling_gap;
}

/* A poll as one of those before the latest: count it. */
bool skelgen_poll_in_turn(struct skelgen_stream *s, const struct skelgen_call *call, uint64_t begin,
			  uint64_t end)
{
	struct skelgen_poll again;

	if (!goes_on(s, begin))
		return false;
	for (size_t i = 0; i < s->other_poll_count; i++) {
		again = s->other_polls[i];
		if (memcmp(&again.call, call, sizeof(*call)) != 0)
			continue;
		s->other_polls[i] = s->poll;
		again.count++;
		again.inside += end - begin;
		again.end = end;
		s->poll = again;
		s->last_end = end;
		return true;
	}
	return false;
}

/* A poll of a new kind: hold the latest back beside it, if there is a place. */
bool skelgen_poll_joins(struct skelgen_stream *s, uint64_t begin)
{
	if (!goes_on(s, begin) || s->other_poll_count == SKELGEN_POLLS_IN_TURN - 1)
		return false;
	s->other_polls[s->other_poll_count++] = s->poll;
	return true;
}

/* In the order in which they began. */
static void sort(struct skelgen_poll *held, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct skelgen_poll one = held[i];
		size_t place = i;

		for (; place > 0 && held[place - 1].begin > one.begin; place--)
			held[place] = held[place - 1];
		held[place] = one;
	}
}

/* Runs that took turns stand one behind the other: each with its time inside, and a part of the
 * time between polls. */
static void spread(struct skelgen_poll *held, size_t count, uint64_t end)
{
	uint64_t at = held[0].begin;
	uint64_t between = end - at;

	for (size_t i = 0; i < count; i++)
		between -= held[i].inside;
	for (size_t i = 0; i < count; i++) {
		uint64_t own = i + 1 < count ? between / (count - i) : between;

		between -= own;
		held[i].previous_end = i ? at : held[0].previous_end;
		held[i].begin = at;
		at += held[i].inside + own;
		held[i].end = at;
	}
}

/* Give away the runs that are held back, with times that do not overlap; return how many. */
size_t skelgen_take_polls(struct skelgen_stream *s, struct skelgen_poll held[SKELGEN_POLLS_IN_TURN])
{
	size_t count = s->other_poll_count + 1;
	bool in_turn = false;

	if (!s->poll.count)
		return 0;
	memcpy(held, s->other_polls, s->other_poll_count * sizeof(*held));
	held[count - 1] = s->poll;
	sort(held, count);
	for (size_t i = 1; i < count; i++)
		in_turn |= held[i - 1].end > held[i].begin;
	if (in_turn)
		spread(held, count, s->poll.end);
	s->poll.count = 0;
	s->other_poll_count = 0;
	s->special &= ~(uint64_t)SKELGEN_SPECIAL_POLL;
	return count;
}
