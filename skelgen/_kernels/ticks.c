/*
 * Place calls on a logical clock.
 *
 * Each rank goes on until it has to wait; what it waits for wakes it. A send begins when its
 * rank's previous call has its tick, so that a Sendrecv can send before it has received.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "rank_of.h"
#include "ticks.h"

#define NONE UINT32_MAX
#define NO_RANK (-1)

/* What the participants of a collective know of each other. */
struct meeting {
	int64_t latest;  /* latest tick before it */
	int32_t missing; /* participants that have not come */
	int32_t waiting; /* chain of ranks that wait for them */
};

struct work {
	const struct skelgen_ticks_input *in;
	int64_t *ticks;
	/* what completes at each call: messages, then collectives that were begun */
	uint32_t *head, *next;
	int64_t *begun;
	struct meeting *meetings;
	/* of each rank: next call, whether it was counted in there, latest tick it waited for */
	int64_t *cursor, *reached;
	uint8_t *arrived;
	/* chains of ranks that wait for a send of a rank, and for which */
	int32_t *waiting, *chain;
	int64_t *waits_for;
	/* ranks that can go on */
	int32_t *ready, ready_count;
};

static int64_t count_begun(const struct skelgen_ticks_input *in)
{
	int64_t calls = in->first[in->ranks], count = 0;

	for (int64_t call = 0; call < calls; call++)
		count += in->whole_event[call] >= 0 &&
			 in->role[in->shape[call]] == SKELGEN_TICKS_BEGINS &&
			 in->collective_done[call] >= 0;
	return count;
}

static void chain_completion(struct work *w, int64_t done, int64_t what)
{
	w->next[what] = w->head[done];
	w->head[done] = (uint32_t)what;
}

static void prepare(struct work *w)
{
	const struct skelgen_ticks_input *in = w->in;
	int64_t calls = in->first[in->ranks], begun = 0;

	for (int64_t message = 0; message < in->messages; message++)
		if (in->receive_done[message] >= 0)
			chain_completion(w, in->receive_done[message], message);
	for (int64_t call = 0; call < calls; call++) {
		uint8_t role = in->role[in->shape[call]];

		if (in->whole_event[call] < 0 || role == SKELGEN_TICKS_LOCAL ||
		    role == SKELGEN_TICKS_ENDS)
			continue;
		w->meetings[in->whole_event[call]].missing++;
		if (role == SKELGEN_TICKS_BEGINS && in->collective_done[call] >= 0) {
			w->begun[begun] = call;
			chain_completion(w, in->collective_done[call], in->messages + begun++);
		}
	}
	for (int64_t whole_event = 0; whole_event < in->whole_events; whole_event++)
		w->meetings[whole_event].waiting = NO_RANK;
	for (int64_t rank = 0; rank < in->ranks; rank++) {
		w->cursor[rank] = in->first[rank];
		w->reached[rank] = -1;
		w->waiting[rank] = NO_RANK;
		w->ready[in->ranks - 1 - rank] = (int32_t)rank;
	}
	w->ready_count = (int32_t)in->ranks;
}

static void wake_chain(struct work *w, int32_t *first)
{
	for (int32_t rank = *first; rank != NO_RANK; rank = w->chain[rank])
		w->ready[w->ready_count++] = rank;
	*first = NO_RANK;
}

static void wait_in(struct work *w, int32_t rank, int32_t *first)
{
	w->chain[rank] = *first;
	*first = rank;
}

/* Count a rank in when it comes to a collective; wake the others when it is the last. */
static void come_to(struct work *w, int32_t rank, struct meeting *meeting, int64_t before)
{
	if (w->arrived[rank])
		return;
	w->arrived[rank] = 1;
	if (before > meeting->latest)
		meeting->latest = before;
	if (!--meeting->missing)
		wake_chain(w, &meeting->waiting);
}

/* Take the ticks of the sends and collectives that a call completes; 0 when it has to wait. */
static int complete(struct work *w, int32_t rank, int64_t call)
{
	const struct skelgen_ticks_input *in = w->in;

	for (; w->head[call] != NONE; w->head[call] = w->next[w->head[call]]) {
		int64_t what = w->head[call], tick;

		if (what < in->messages) {
			int64_t send = in->send_call[what];
			int32_t sender = (int32_t)rank_of(in->first, in->ranks, send);

			if (w->cursor[sender] < send) {
				w->waits_for[rank] = send;
				wait_in(w, rank, &w->waiting[sender]);
				return 0;
			}
			/* when it begins: a Sendrecv may have to wait longer itself */
			tick = send == in->first[sender] ? 1 : w->ticks[send - 1] + 1;
		} else {
			struct meeting *meeting =
				&w->meetings[in->whole_event[w->begun[what - in->messages]]];

			if (meeting->missing) {
				wait_in(w, rank, &meeting->waiting);
				return 0;
			}
			tick = meeting->latest + 1;
		}
		if (tick > w->reached[rank])
			w->reached[rank] = tick;
	}
	return 1;
}

/* Place a rank's next call; 0 when it has to wait. */
static int step(struct work *w, int32_t rank)
{
	const struct skelgen_ticks_input *in = w->in;
	int64_t call = w->cursor[rank];
	int64_t before = call == in->first[rank] ? 0 : w->ticks[call - 1];
	uint8_t role = in->role[in->shape[call]];

	if (role == SKELGEN_TICKS_ENDS)
		before--;
	if (role == SKELGEN_TICKS_ENDS || in->whole_event[call] < 0)
		role = SKELGEN_TICKS_LOCAL;
	if (before > w->reached[rank])
		w->reached[rank] = before;
	if (role != SKELGEN_TICKS_LOCAL) {
		struct meeting *meeting = &w->meetings[in->whole_event[call]];

		come_to(w, rank, meeting, before);
		if (role == SKELGEN_TICKS_MEETS && meeting->missing) {
			wait_in(w, rank, &meeting->waiting);
			return 0;
		}
		if (role == SKELGEN_TICKS_MEETS)
			w->reached[rank] = meeting->latest;
	}
	if (w->head[call] != NONE && !complete(w, rank, call))
		return 0;
	w->ticks[call] = w->reached[rank] + 1;
	w->reached[rank] = -1;
	w->arrived[rank] = 0;
	w->cursor[rank]++;
	return 1;
}

/* Wake the ranks whose send has begun; the others keep waiting. */
static void wake_receivers(struct work *w, int32_t sender)
{
	int32_t rank = w->waiting[sender], next;

	w->waiting[sender] = NO_RANK;
	for (; rank != NO_RANK; rank = next) {
		next = w->chain[rank];
		if (w->waits_for[rank] <= w->cursor[sender])
			w->ready[w->ready_count++] = rank;
		else
			wait_in(w, rank, &w->waiting[sender]);
	}
}

static void run(struct work *w)
{
	while (w->ready_count) {
		int32_t rank = w->ready[--w->ready_count];

		while (w->cursor[rank] < w->in->first[rank + 1] && step(w, rank))
			;
		wake_receivers(w, rank);
	}
}

static int64_t report_stuck(const struct work *w, int64_t *stuck)
{
	int64_t count = 0;

	for (int64_t rank = 0; rank < w->in->ranks; rank++) {
		int waits = w->cursor[rank] < w->in->first[rank + 1];

		stuck[rank] = waits ? w->cursor[rank] : -1;
		count += waits;
	}
	return count;
}

static int allocate(struct work *w)
{
	const struct skelgen_ticks_input *in = w->in;
	size_t calls = (size_t)in->first[in->ranks] + 1, ranks = (size_t)in->ranks + 1;
	size_t begun = (size_t)count_begun(in) + 1, messages = (size_t)in->messages;

	if (messages + begun >= NONE)
		return -1;
	w->head = malloc(calls * sizeof(*w->head));
	w->next = malloc((messages + begun) * sizeof(*w->next));
	w->begun = malloc(begun * sizeof(*w->begun));
	w->meetings = calloc((size_t)in->whole_events + 1, sizeof(*w->meetings));
	w->cursor = malloc(ranks * sizeof(*w->cursor));
	w->reached = calloc(ranks, sizeof(*w->reached));
	w->arrived = calloc(ranks, sizeof(*w->arrived));
	w->waiting = malloc(ranks * sizeof(*w->waiting));
	w->chain = malloc(ranks * sizeof(*w->chain));
	w->waits_for = malloc(ranks * sizeof(*w->waits_for));
	w->ready = malloc(ranks * sizeof(*w->ready));
	if (!w->head || !w->next || !w->begun || !w->meetings || !w->cursor || !w->reached ||
	    !w->arrived || !w->waiting || !w->chain || !w->waits_for || !w->ready)
		return -1;
	memset(w->head, 0xff, calls * sizeof(*w->head));
	return 0;
}

static void release(struct work *w)
{
	free(w->head);
	free(w->next);
	free(w->begun);
	free(w->meetings);
	free(w->cursor);
	free(w->reached);
	free(w->arrived);
	free(w->waiting);
	free(w->chain);
	free(w->waits_for);
	free(w->ready);
}

int64_t skelgen_ticks(const struct skelgen_ticks_input *in, int64_t *ticks, int64_t *stuck)
{
	struct work w = {.in = in, .ticks = ticks};
	int64_t status = allocate(&w);

	if (!status) {
		prepare(&w);
		run(&w);
		status = report_stuck(&w, stuck);
	}
	release(&w);
	return status;
}
