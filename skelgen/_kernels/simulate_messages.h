/*
 * Messages: the first that waits on a channel goes first; a part of simulate.c.
 */
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
