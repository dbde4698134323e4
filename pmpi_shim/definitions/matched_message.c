/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that Mprobe matched and Mrecv will receive. The program may free their communicator
 * before, so its description is kept, and known by its own address from here on: no handle.
 */
#include "definitions/matched_message.h"

#include "base/map.h"
#include "definitions/communicator.h"
#include "event/event.h"

#include <stdlib.h>

static struct skelgen_map messages; /* handle -> struct skelgen_message */

/* Mprobe found a message: Mrecv will not say where it comes from. */
void skelgen_message_made(MPI_Message handle, MPI_Comm comm, int source, int tag)
{
	struct skelgen_message *message = malloc(sizeof(*message));

	if (!message)
		return;
	skelgen_lock();
	*message = (struct skelgen_message){skelgen_comm_keep(comm), skelgen_peer(source),
					    skelgen_tag(tag)};
	skelgen_map_set(&messages, SKELGEN_KEY(handle), (uintptr_t)message);
	skelgen_unlock();
}

/* What the Mprobe knew. Before the call: behind it another thread's message may have the handle. */
struct skelgen_message skelgen_message_taken(MPI_Message handle)
{
	struct skelgen_message message = {0, SKELGEN_NO_PEER, SKELGEN_NO_TAG};
	uint64_t *known;

	skelgen_lock();
	known = skelgen_map_find(&messages, SKELGEN_KEY(handle));
	if (known) {
		message = *(struct skelgen_message *)(uintptr_t)*known;
		free((void *)(uintptr_t)*known);
		skelgen_map_remove(&messages, SKELGEN_KEY(handle));
	}
	skelgen_unlock();
	return message;
}

void skelgen_messages_close(void)
{
	skelgen_map_close(&messages);
}
