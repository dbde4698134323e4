/*
 * Act a recorded run out again, with its threads: which calls return in which order when sends
 * wait for their receives. skelgen/matching/replay.py says how. The Python twin,
 * tests/twins/matching_replay.py, has the same functions.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "replay.h"

enum flag { OFFERED = 1, BEGUN = 2, DONE = 4, CHOSEN = 8, SENDS = 16 };

struct act {
	int64_t time_ns, call;
};

struct replay {
	const struct skelgen_replay_input *in;
	int64_t *order;
	int64_t *head, *next; /* of each thread, and behind each call */
	int64_t *place;       /* of each rank, in order */
	int32_t *rank;
	int64_t *missing;       /* of each end: calls that have not begun it */
	int64_t *lacking[2];    /* ends that each call waits for: others, soft ones */
	int64_t *before;        /* calls that stay in front of each */
	uint8_t *flags, *held;  /* of each call, of each end */
	int64_t *found, *stack; /* calls that return together */
	struct act *heap;
	int64_t acts, room;
	int failed;
};

static int earlier(struct act a, struct act b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.call < b.call);
}

static void push(struct replay *r, int64_t time_ns, int64_t call)
{
	struct act act = {time_ns, call};
	int64_t at = r->acts;

	if (at == r->room) {
		struct act *larger = realloc(r->heap, 2 * (size_t)r->room * sizeof(*larger));

		if (!larger) {
			r->failed = 1;
			return;
		}
		r->heap = larger;
		r->room *= 2;
	}
	r->acts++;
	for (; at && earlier(act, r->heap[(at - 1) / 2]); at = (at - 1) / 2)
		r->heap[at] = r->heap[(at - 1) / 2];
	r->heap[at] = act;
}

static int64_t pop(struct replay *r)
{
	int64_t call = r->heap[0].call, at = 0, child;
	struct act last = r->heap[--r->acts];

	while ((child = 2 * at + 1) < r->acts) {
		if (child + 1 < r->acts && earlier(r->heap[child + 1], r->heap[child]))
			child++;
		if (!earlier(r->heap[child], last))
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	r->heap[at] = last;
	return call;
}

static int blocks(const struct replay *r, int64_t call)
{
	return r->in->waits_first[call + 1] > r->in->waits_first[call];
}

static int ready(const struct replay *r, int64_t call)
{
	return !r->lacking[0][call] && !r->lacking[1][call] && !r->before[call] &&
	       !(r->flags[call] & DONE);
}

/* Whether calls of other threads had returned before this one was entered, and stand ahead. */
static int preceded(const struct replay *r, int64_t call)
{
	const int64_t *lanes = r->in->lane_first + r->rank[call];

	for (int64_t lane = lanes[0]; lane < lanes[1]; lane++) {
		int64_t other = r->head[lane];

		if (other >= 0 && other < call && r->in->leave_ns[other] <= r->in->enter_ns[call])
			return 1;
	}
	return 0;
}

/* Let the threads of a rank begin their next calls, where they may. */
static void offer(struct replay *r, int64_t rank)
{
	for (int64_t lane = r->in->lane_first[rank]; lane < r->in->lane_first[rank + 1]; lane++) {
		int64_t call = r->head[lane];

		if (call < 0 || r->flags[call] & OFFERED)
			continue;
		if ((blocks(r, call) || !r->before[call]) && !preceded(r, call)) {
			r->flags[call] |= OFFERED;
			push(r, r->in->enter_ns[call], call);
		}
	}
}

/* Let a call return when its time comes, if it could. */
static void consider(struct replay *r, int64_t call)
{
	if (r->flags[call] & BEGUN && ready(r, call))
		push(r, r->in->leave_ns[call], call);
}

static void consider_waiters(struct replay *r, int64_t end)
{
	const struct skelgen_replay_input *in = r->in;

	for (int64_t i = in->waiters_first[end]; i < in->waiters_first[end + 1]; i++)
		consider(r, in->waiters[i]);
}

static void finish(struct replay *r, int64_t call)
{
	const struct skelgen_replay_input *in = r->in;
	int32_t rank = r->rank[call];

	r->flags[call] |= DONE;
	r->order[r->place[rank]++] = call;
	r->head[in->lane[call]] = r->next[call];
	for (int64_t i = in->after_first[call]; i < in->after_first[call + 1]; i++) {
		r->before[in->after[i]]--;
		consider(r, in->after[i]);
	}
	for (int64_t i = in->waits_first[call]; i < in->waits_first[call + 1]; i++) {
		if (r->held[in->waits[i]]) {
			r->held[in->waits[i]] = 0;
			consider_waiters(r, in->waits[i]);
		}
	}
	offer(r, rank);
}

/* All that an end needs have begun it. */
static void complete(struct replay *r, int64_t end)
{
	const struct skelgen_replay_input *in = r->in;

	for (int64_t i = in->waiters_first[end]; i < in->waiters_first[end + 1]; i++) {
		r->lacking[in->soft[i]][in->waiters[i]]--;
		consider(r, in->waiters[i]);
	}
}

static void begin(struct replay *r, int64_t call)
{
	const struct skelgen_replay_input *in = r->in;

	r->flags[call] |= OFFERED | BEGUN;
	for (int64_t i = in->begins_first[call]; i < in->begins_first[call + 1]; i++)
		if (!--r->missing[in->begins[i]])
			complete(r, in->begins[i]);
	if (blocks(r, call))
		consider(r, call);
	else
		finish(r, call);
}

static void choose(struct replay *r, int64_t call, int64_t *found, int64_t *waiting)
{
	r->flags[call] |= CHOSEN;
	r->found[(*found)++] = call;
	r->stack[(*waiting)++] = call;
}

/* Note that what waits for the same ends as these calls is to be considered again. */
static void hold(struct replay *r, int64_t found)
{
	const struct skelgen_replay_input *in = r->in;

	for (int64_t k = 0; k < found; k++)
		for (int64_t i = in->waits_first[r->found[k]]; i < in->waits_first[r->found[k] + 1];
		     i++)
			r->held[in->waits[i]] = 1;
}

/* Find the calls that return with this one; 0 if one of them cannot. */
static int64_t together(struct replay *r, int64_t call)
{
	const struct skelgen_replay_input *in = r->in;
	int64_t found = 0, waiting = 0, stuck = 0;

	choose(r, call, &found, &waiting);
	while (waiting && !stuck) {
		int64_t one = r->stack[--waiting];

		for (int64_t i = in->waits_first[one]; i < in->waits_first[one + 1]; i++) {
			int64_t end = in->waits[i];

			for (int64_t k = in->waiters_first[end]; k < in->waiters_first[end + 1];
			     k++) {
				int64_t other = in->waiters[k];

				if (r->flags[other] & (CHOSEN | DONE) || !in->holds[k])
					continue;
				stuck |= !(r->flags[other] & BEGUN) || !ready(r, other);
				choose(r, other, &found, &waiting);
			}
		}
	}
	for (int64_t k = 0; k < found; k++)
		r->flags[r->found[k]] &= (uint8_t)~CHOSEN;
	if (stuck)
		hold(r, found);
	return stuck ? 0 : found;
}

static int by_call(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* A message of a rank to itself: its send stands first, and can be mended. */
static void finish_together(struct replay *r, int64_t call)
{
	int64_t found = together(r, call);

	qsort(r->found, (size_t)found, sizeof(*r->found), by_call);
	for (int sends = SENDS; sends >= 0; sends -= SENDS)
		for (int64_t k = 0; k < found; k++)
			if ((r->flags[r->found[k]] & SENDS) == sends)
				finish(r, r->found[k]);
}

static void act(struct replay *r, int64_t call)
{
	if (!(r->flags[call] & BEGUN))
		begin(r, call);
	else if (!(r->flags[call] & DONE))
		finish_together(r, call);
}

/* Let happen what happened first in the recording. */
static int force(struct replay *r)
{
	struct act first = {0, -1};
	int first_met = 0;

	for (int64_t lane = 0; lane < r->in->lane_first[r->in->ranks]; lane++) {
		int64_t call = r->head[lane];
		struct act act = {0, call};
		int met = 0;

		if (call < 0)
			continue;
		if (r->flags[call] & BEGUN) {
			if (r->lacking[0][call] || r->before[call])
				continue;
			act.time_ns = r->in->leave_ns[call];
			met = !r->lacking[1][call];
		} else {
			if (!blocks(r, call) && r->before[call])
				continue;
			act.time_ns = r->in->enter_ns[call];
		}
		if (first.call < 0 || met < first_met ||
		    (met == first_met && earlier(act, first))) {
			first = act;
			first_met = met;
		}
	}
	if (first.call < 0)
		return 0;
	if (r->flags[first.call] & BEGUN)
		finish(r, first.call);
	else
		begin(r, first.call);
	return 1;
}

static int allocate(struct replay *r)
{
	const struct skelgen_replay_input *in = r->in;
	size_t calls = (size_t)in->first[in->ranks] + 1, ends = (size_t)in->ends + 1;

	r->room = 1024;
	r->head = malloc(((size_t)in->lane_first[in->ranks] + 1) * sizeof(*r->head));
	r->next = malloc(calls * sizeof(*r->next));
	r->place = malloc(((size_t)in->ranks + 1) * sizeof(*r->place));
	r->rank = malloc(calls * sizeof(*r->rank));
	r->missing = calloc(ends, sizeof(*r->missing));
	r->lacking[0] = calloc(calls, sizeof(**r->lacking));
	r->lacking[1] = calloc(calls, sizeof(**r->lacking));
	r->before = calloc(calls, sizeof(*r->before));
	r->flags = calloc(calls, 1);
	r->held = calloc(ends, 1);
	r->found = malloc(calls * sizeof(*r->found));
	r->stack = malloc(calls * sizeof(*r->stack));
	r->heap = malloc((size_t)r->room * sizeof(*r->heap));
	return r->head && r->next && r->place && r->rank && r->missing && r->lacking[0] &&
			       r->lacking[1] && r->before && r->flags && r->held && r->found &&
			       r->stack && r->heap
		       ? 0
		       : -1;
}

static void release(struct replay *r)
{
	free(r->head);
	free(r->next);
	free(r->place);
	free(r->rank);
	free(r->missing);
	free(r->lacking[0]);
	free(r->lacking[1]);
	free(r->before);
	free(r->flags);
	free(r->held);
	free(r->found);
	free(r->stack);
	free(r->heap);
}

static void count(struct replay *r)
{
	const struct skelgen_replay_input *in = r->in;
	int64_t calls = in->first[in->ranks];

	for (int64_t i = 0; i < in->begins_first[calls]; i++)
		r->missing[in->begins[i]]++;
	for (int64_t i = 0; i < in->waiters_first[in->ends]; i++) {
		r->lacking[in->soft[i]][in->waiters[i]]++;
		if (in->soft[i])
			r->flags[in->waiters[i]] |= SENDS;
	}
	for (int64_t i = 0; i < in->after_first[calls]; i++)
		r->before[in->after[i]]++;
	for (int64_t lane = 0; lane < in->lane_first[in->ranks]; lane++)
		r->head[lane] = -1;
	for (int64_t rank = 0; rank < in->ranks; rank++) {
		r->place[rank] = in->first[rank];
		for (int64_t call = in->first[rank]; call < in->first[rank + 1]; call++)
			r->rank[call] = (int32_t)rank;
	}
	for (int64_t call = calls - 1; call >= 0; call--) {
		r->next[call] = r->head[in->lane[call]];
		r->head[in->lane[call]] = call;
	}
}

int skelgen_replay(const struct skelgen_replay_input *in, int64_t *order)
{
	struct replay r = {.in = in, .order = order};
	int status = allocate(&r);

	if (!status) {
		count(&r);
		for (int64_t rank = 0; rank < in->ranks; rank++)
			offer(&r, rank);
		do {
			while (r.acts && !r.failed)
				act(&r, pop(&r));
		} while (!r.failed && force(&r));
		for (int64_t call = 0; call < in->first[in->ranks]; call++)
			if (!(r.flags[call] & DONE))
				order[r.place[r.rank[call]]++] = call;
		status = r.failed ? -1 : 0;
	}
	release(&r);
	return status;
}
