/*
 * Runs a skeleton without times: which rank gets how far when sends wait for their receives
 * (rendezvous) or do not (eager). Nothing depends on the order in which ranks are taken, for
 * receives name their sources. The Python twin stands in skeleton/simulate_plain.py.
 */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

/* Values of Kind in events/functions.py. */
enum kind {
	SEND = 1,
	RECEIVE,
	SENDRECV,
	ISEND,
	IRECEIVE,
	SEND_INIT,
	RECEIVE_INIT,
	START,
	COMPLETE,
	COLLECTIVE = 11,
	ICOLLECTIVE,
	RELEASE = 14,
	COLLECTIVE_INIT = 16,
	ISENDRECV,
	SIGNAL = 19,
	AWAIT,
};

enum {
	NOBODY = -1,
	SYNCHRONOUS = 1, /* a send that waits for its receive even if eager */
	BUFFERED = 2,    /* a send that never waits */
	DONE = 1,
	WAITED = 2,
	GONE = 4,
	ACTIVE = 8, /* started and not yet waited for */
	BOTH = 16,  /* both messages of an Isendrecv are under way */
};

/* One end of a message, or a participant of a collective, that waits for others. */
struct item {
	int64_t bytes;
	int64_t request; /* NOBODY for a blocking call */
	int32_t rank;
	int32_t next;
	int32_t complete;
};

struct queue {
	int32_t head;
	int32_t tail;
};

struct meeting {
	int64_t bytes;
	int32_t fit;
	int32_t odd;
	int32_t arrived;
	int32_t waiting;
	int32_t next;
	int32_t following; /* that the next starts of a persistent collective lead to */
};

struct simulation {
	const struct skelgen_script *script;
	struct skelgen_outcome *outcome;
	int rendezvous;
	int broken; /* out of memory */
	struct item *item;
	int64_t items;
	int64_t item_room;
	int32_t free_item;
	struct queue *sends;
	struct queue *receives;
	struct meeting *meeting;
	int64_t meetings;
	int64_t meeting_room;
	int32_t *stream_first;
	int32_t *member_last;
	uint8_t *request;
	int32_t *request_row;
	int32_t *request_meeting; /* latest one of a persistent collective */
	int64_t *created;         /* next request of each rank */
	int64_t *lasting;         /* its latest persistent one; they are numbered from the end */
	int64_t *executed;        /* of each row */
	int64_t *position;
	int32_t *waiting;
	uint8_t *blocked;
	int32_t *ready;
	int32_t readies;
};

static int grow(void **array, int64_t *room, size_t width)
{
	int64_t wanted = *room ? *room * 2 : 1024;
	void *larger = realloc(*array, (size_t)wanted * width);

	if (!larger)
		return -1;
	*array = larger;
	*room = wanted;
	return 0;
}

static int32_t new_item(struct simulation *sim, int32_t rank, int64_t request, int64_t bytes)
{
	int32_t found = sim->free_item;

	if (found != NOBODY) {
		sim->free_item = sim->item[found].next;
	} else {
		if (sim->items == sim->item_room &&
		    grow((void **)&sim->item, &sim->item_room, sizeof(*sim->item))) {
			sim->broken = 1;
			return NOBODY;
		}
		found = (int32_t)sim->items++;
	}
	sim->item[found] = (struct item){bytes, request, rank, NOBODY, 0};
	return found;
}

static void push(struct simulation *sim, struct queue *queue, int32_t item)
{
	if (queue->head == NOBODY)
		queue->head = item;
	else
		sim->item[queue->tail].next = item;
	queue->tail = item;
}

static struct item pop(struct simulation *sim, struct queue *queue)
{
	int32_t found = queue->head;
	struct item item = sim->item[found];

	queue->head = item.next;
	sim->item[found].next = sim->free_item;
	sim->free_item = found;
	return item;
}

/* Ends what a rank began: a blocking call, or a request that it may be waiting for. */
static void complete(struct simulation *sim, int32_t rank, int64_t request)
{
	if (request != NOBODY) {
		uint8_t *state = &sim->request[request];

		if (*state & BOTH) {
			*state &= (uint8_t)~BOTH;
			return;
		}
		*state |= DONE;
		if (!(*state & WAITED))
			return;
		*state &= (uint8_t)~WAITED;
	}
	if (--sim->waiting[rank] == 0 && sim->blocked[rank]) {
		sim->blocked[rank] = 0;
		sim->ready[sim->readies++] = rank;
	}
}

static void post_send(struct simulation *sim, int32_t channel, int32_t rank, int64_t request,
		      int64_t bytes, int mode)
{
	int waits = mode & SYNCHRONOUS || (sim->rendezvous && !(mode & BUFFERED));
	int32_t item;

	if (channel == NOBODY) {
		complete(sim, rank, request);
		return;
	}
	if (sim->receives[channel].head != NOBODY) {
		struct item receive = pop(sim, &sim->receives[channel]);

		sim->outcome->truncated += bytes > receive.bytes;
		complete(sim, receive.rank, receive.request);
		complete(sim, rank, request);
		return;
	}
	item = new_item(sim, rank, request, bytes);
	if (item == NOBODY)
		return;
	sim->item[item].complete = !waits;
	push(sim, &sim->sends[channel], item);
	if (!waits)
		complete(sim, rank, request);
}

static void post_receive(struct simulation *sim, int32_t channel, int32_t rank, int64_t request,
			 int64_t capacity)
{
	int32_t item;

	if (channel == NOBODY) {
		complete(sim, rank, request);
		return;
	}
	if (sim->sends[channel].head != NOBODY) {
		struct item send = pop(sim, &sim->sends[channel]);

		sim->outcome->truncated += send.bytes > capacity;
		if (!send.complete)
			complete(sim, send.rank, send.request);
		complete(sim, rank, request);
		return;
	}
	item = new_item(sim, rank, request, capacity);
	if (item != NOBODY)
		push(sim, &sim->receives[channel], item);
}

static int32_t new_meeting(struct simulation *sim)
{
	int32_t found;

	if (sim->meetings == sim->meeting_room &&
	    grow((void **)&sim->meeting, &sim->meeting_room, sizeof(*sim->meeting))) {
		sim->broken = 1;
		return NOBODY;
	}
	found = (int32_t)sim->meetings++;
	sim->meeting[found] = (struct meeting){-1, 0, 0, 0, NOBODY, NOBODY, NOBODY};
	return found;
}

static int32_t next_meeting(struct simulation *sim, int32_t stream, int32_t member)
{
	int32_t last = sim->member_last[member];
	int32_t found = last == NOBODY ? sim->stream_first[stream] : sim->meeting[last].next;

	if (found == NOBODY) {
		found = new_meeting(sim);
		if (found == NOBODY)
			return found;
		if (last == NOBODY)
			sim->stream_first[stream] = found;
		else
			sim->meeting[last].next = found;
	}
	sim->member_last[member] = found;
	return found;
}

/* What the next start of a persistent collective leads to. */
static int32_t next_start(struct simulation *sim, int64_t request)
{
	int32_t last = sim->request_meeting[request];
	int32_t found;

	if (last == NOBODY)
		return NOBODY; /* there was no memory for its creation */
	found = sim->meeting[last].following;
	if (found == NOBODY) {
		found = new_meeting(sim);
		if (found != NOBODY)
			sim->meeting[last].following = found;
	}
	if (found != NOBODY)
		sim->request_meeting[request] = found;
	return found;
}

static void attend(struct simulation *sim, int32_t found, int32_t row, int32_t rank,
		   int64_t request, int64_t bytes)
{
	const struct skelgen_script *script = sim->script;
	int32_t item = new_item(sim, rank, request, bytes);
	struct meeting *meeting;

	if (found == NOBODY || item == NOBODY)
		return;
	meeting = &sim->meeting[found];
	if (meeting->arrived++ == 0) {
		meeting->fit = script->fit[row];
		meeting->bytes = bytes;
	} else if (meeting->fit != script->fit[row] || meeting->bytes != bytes) {
		sim->outcome->mismatched += !meeting->odd;
		meeting->odd = 1;
	}
	sim->item[item].next = meeting->waiting;
	meeting->waiting = item;
	if (meeting->arrived < script->stream_size[script->stream[row]])
		return;
	while (sim->meeting[found].waiting != NOBODY) {
		struct queue waiting = {sim->meeting[found].waiting, NOBODY};
		struct item one = pop(sim, &waiting);

		sim->meeting[found].waiting = waiting.head;
		complete(sim, one.rank, one.request);
	}
}

/* Request of a rank by age; NOBODY when there is none. */
static int64_t by_age(struct simulation *sim, int32_t rank, int64_t age)
{
	const int64_t *first = sim->script->request_first + rank;
	int64_t request = age > 0 ? sim->created[rank] - age : sim->lasting[rank] - age - 1;
	int known = age > 0 ? request >= first[0] : age < 0 && request < first[1];

	if (!known || sim->request[request] & GONE) {
		sim->outcome->misused++;
		return NOBODY;
	}
	return request;
}

/* Whether an operation creates a persistent request. */
static int is_init(const struct skelgen_script *script, int32_t row)
{
	int kind = script->kind[row];

	return kind == SEND_INIT || kind == RECEIVE_INIT || kind == COLLECTIVE_INIT;
}

static int is_persistent(const struct simulation *sim, int64_t request)
{
	return is_init(sim->script, sim->request_row[request]);
}

/* Size of the first execution of a row. */
static int64_t first_size(const struct skelgen_script *script, int32_t row)
{
	int64_t first = script->size_first[row];

	return first < script->size_first[row + 1] ? script->size_bytes[first] : 0;
}

static void start(struct simulation *sim, int32_t row, int32_t rank)
{
	const struct skelgen_script *script = sim->script;
	int64_t i;

	for (i = script->age_first[row]; i < script->age_first[row + 1]; i++) {
		int64_t request = by_age(sim, rank, script->ages[i]);
		int64_t partner;
		int32_t init;

		if (request == NOBODY)
			continue;
		if (!is_persistent(sim, request) || sim->request[request] & ACTIVE) {
			sim->outcome->misused++;
			continue;
		}
		init = sim->request_row[request];
		partner = script->partner_first[init];
		sim->request[request] |= ACTIVE;
		sim->request[request] &= (uint8_t)~DONE;
		if (script->kind[init] == SEND_INIT)
			post_send(sim, script->send_channel[partner], rank, request,
				  first_size(script, init), script->mode[init]);
		else if (script->kind[init] == COLLECTIVE_INIT)
			attend(sim, next_start(sim, request), init, rank, request,
			       first_size(script, init));
		else
			post_receive(sim, script->receive_channel[partner], rank, request,
				     script->capacity_bytes[init]);
	}
}

static void wait_for(struct simulation *sim, int32_t row, int32_t rank)
{
	const struct skelgen_script *script = sim->script;
	int64_t i;

	for (i = script->age_first[row]; i < script->age_first[row + 1]; i++) {
		int64_t request = by_age(sim, rank, script->ages[i]);

		if (request == NOBODY)
			continue;
		if (!(sim->request[request] & DONE)) {
			sim->request[request] |= WAITED;
			sim->waiting[rank]++;
		}
		if (is_persistent(sim, request))
			sim->request[request] &= (uint8_t)~ACTIVE;
		else
			sim->request[request] |= GONE;
	}
}

static void release_requests(struct simulation *sim, int32_t row, int32_t rank)
{
	const struct skelgen_script *script = sim->script;
	int64_t i;

	for (i = script->age_first[row]; i < script->age_first[row + 1]; i++) {
		int64_t request = by_age(sim, rank, script->ages[i]);

		if (request != NOBODY)
			sim->request[request] |= GONE;
	}
}

static int64_t new_request(struct simulation *sim, int32_t rank, int32_t row)
{
	int64_t request = is_init(sim->script, row) ? --sim->lasting[rank] : sim->created[rank]++;

	sim->request_row[request] = row;
	return request;
}

/* Tells all partners, which waits for nobody, or waits until all of them have told. */
static void tell_or_await(struct simulation *sim, int32_t row, int32_t rank, int tells)
{
	const struct skelgen_script *script = sim->script;
	int64_t i;

	for (i = script->partner_first[row]; i < script->partner_first[row + 1]; i++) {
		int32_t channel = tells ? script->send_channel[i] : script->receive_channel[i];

		if (channel == NOBODY)
			continue;
		sim->waiting[rank]++;
		if (tells)
			post_send(sim, channel, rank, NOBODY, 0, BUFFERED);
		else
			post_receive(sim, channel, rank, NOBODY, 0);
	}
}

/* Executes one step; afterwards `waiting` says whether the rank must wait. */
static void execute(struct simulation *sim, int32_t rank, int32_t row)
{
	const struct skelgen_script *script = sim->script;
	int64_t done = sim->executed[row]++;
	int64_t partners = script->partner_first[row + 1] - script->partner_first[row];
	int64_t sizes = script->size_first[row + 1] - script->size_first[row];
	int64_t partner = script->partner_first[row] + (partners > 1 ? done % partners : 0);
	int64_t bytes = 0;
	int64_t request = NOBODY;
	int kind = script->kind[row];

	if (sizes > 0)
		bytes = script->size_bytes[script->size_first[row] +
					   done * sizes / script->occurrences[row]];
	if (kind == ISEND || kind == IRECEIVE || kind == ISENDRECV || kind == ICOLLECTIVE ||
	    kind == SEND_INIT || kind == RECEIVE_INIT || kind == COLLECTIVE_INIT)
		request = new_request(sim, rank, row);
	sim->waiting[rank] =
		kind == SEND || kind == RECEIVE || kind == COLLECTIVE || kind == COLLECTIVE_INIT;
	switch (kind) {
	case SEND:
	case ISEND:
		post_send(sim, script->send_channel[partner], rank, request, bytes,
			  script->mode[row]);
		break;
	case RECEIVE:
	case IRECEIVE:
		post_receive(sim, script->receive_channel[partner], rank, request,
			     script->capacity_bytes[row]);
		break;
	case SENDRECV:
	case ISENDRECV:
		if (kind == SENDRECV)
			sim->waiting[rank] = 2;
		else
			sim->request[request] |= BOTH;
		post_send(sim, script->send_channel[partner], rank, request, bytes,
			  script->mode[row]);
		post_receive(sim, script->receive_channel[partner], rank, request,
			     script->capacity_bytes[row]);
		break;
	case SEND_INIT:
	case RECEIVE_INIT:
		sim->request[request] |= DONE;
		break;
	case SIGNAL:
	case AWAIT:
		tell_or_await(sim, row, rank, kind == SIGNAL);
		break;
	case START:
		start(sim, row, rank);
		break;
	case COMPLETE:
		wait_for(sim, row, rank);
		break;
	case RELEASE:
		release_requests(sim, row, rank);
		break;
	case COLLECTIVE:
	case ICOLLECTIVE:
		attend(sim, next_meeting(sim, script->stream[row], script->member[row]), row, rank,
		       request, bytes);
		break;
	case COLLECTIVE_INIT:
		/* It may wait for the others; what it creates is not yet started. */
		sim->request[request] |= DONE;
		sim->request_meeting[request] =
			next_meeting(sim, script->stream[row], script->member[row]);
		attend(sim, sim->request_meeting[request], row, rank, NOBODY, bytes);
		break;
	default:
		break;
	}
}

static void run(struct simulation *sim)
{
	const struct skelgen_script *script = sim->script;
	int32_t rank;

	for (rank = script->ranks - 1; rank >= 0; rank--)
		sim->ready[sim->readies++] = rank;
	while (sim->readies > 0 && !sim->broken) {
		int64_t steps;

		rank = sim->ready[--sim->readies];
		steps = script->first[rank + 1] - script->first[rank];
		/* A rank that was waiting has finished the step that made it wait. */
		while (!sim->broken && ++sim->position[rank] < steps) {
			int64_t step = script->first[rank] + sim->position[rank];

			execute(sim, rank, script->row[step]);
			if (sim->waiting[rank] > 0) {
				sim->blocked[rank] = 1;
				break;
			}
		}
	}
}

static void count_leftovers(struct simulation *sim)
{
	int32_t channel, item;

	for (channel = 0; channel < sim->script->channels; channel++) {
		for (item = sim->sends[channel].head; item != NOBODY; item = sim->item[item].next)
			sim->outcome->unreceived++;
		for (item = sim->receives[channel].head; item != NOBODY;
		     item = sim->item[item].next)
			sim->outcome->unsent++;
	}
}

static void *filled(int64_t count, size_t width)
{
	size_t bytes = ((size_t)count + 1) * width;
	void *array = malloc(bytes);

	if (array)
		memset(array, 0xff, bytes);
	return array;
}

static void *cleared(int64_t count, size_t width)
{
	return calloc((size_t)count + 1, width);
}

static int prepare(struct simulation *sim)
{
	const struct skelgen_script *script = sim->script;
	int64_t requests = script->request_first[script->ranks];
	int32_t rank;

	sim->free_item = NOBODY;
	sim->sends = filled(script->channels, sizeof(*sim->sends));
	sim->receives = filled(script->channels, sizeof(*sim->receives));
	sim->stream_first = filled(script->streams, sizeof(*sim->stream_first));
	sim->member_last = filled(script->members, sizeof(*sim->member_last));
	sim->request = cleared(requests, sizeof(*sim->request));
	sim->request_row = cleared(requests, sizeof(*sim->request_row));
	sim->request_meeting = cleared(requests, sizeof(*sim->request_meeting));
	sim->created = cleared(script->ranks, sizeof(*sim->created));
	sim->lasting = cleared(script->ranks, sizeof(*sim->lasting));
	sim->executed = cleared(script->rows, sizeof(*sim->executed));
	sim->waiting = cleared(script->ranks, sizeof(*sim->waiting));
	sim->blocked = cleared(script->ranks, sizeof(*sim->blocked));
	sim->ready = cleared(script->ranks, sizeof(*sim->ready));
	if (!sim->sends || !sim->receives || !sim->stream_first || !sim->member_last ||
	    !sim->request || !sim->request_row || !sim->request_meeting || !sim->created ||
	    !sim->lasting || !sim->executed || !sim->waiting || !sim->blocked || !sim->ready)
		return -1;
	for (rank = 0; rank < script->ranks; rank++) {
		sim->created[rank] = script->request_first[rank];
		sim->lasting[rank] = script->request_first[rank + 1];
		sim->position[rank] = -1;
	}
	return 0;
}

static void release(struct simulation *sim)
{
	free(sim->item);
	free(sim->sends);
	free(sim->receives);
	free(sim->meeting);
	free(sim->stream_first);
	free(sim->member_last);
	free(sim->request);
	free(sim->request_row);
	free(sim->request_meeting);
	free(sim->created);
	free(sim->lasting);
	free(sim->executed);
	free(sim->waiting);
	free(sim->blocked);
	free(sim->ready);
}

/*
 * Notes in `position` how many steps each rank has finished. Returns 0, or -1 when there was
 * not enough memory.
 */
int skelgen_simulate(const struct skelgen_script *script, int rendezvous, int64_t *position,
		     struct skelgen_outcome *outcome)
{
	struct simulation sim = {
		.script = script,
		.outcome = outcome,
		.rendezvous = rendezvous,
		.position = position,
	};
	int error = prepare(&sim);

	memset(outcome, 0, sizeof(*outcome));
	if (!error) {
		run(&sim);
		count_leftovers(&sim);
		error = sim.broken ? -1 : 0;
	}
	release(&sim);
	return error;
}
