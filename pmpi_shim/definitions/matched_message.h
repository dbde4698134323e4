/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that Mprobe matched and Mrecv will receive. */
#ifndef SKELGEN_MATCHED_MESSAGE_H
#define SKELGEN_MATCHED_MESSAGE_H

#include "base/state.h"

struct skelgen_message {
	uint64_t comm;
	int32_t source;
	int32_t tag;
};
void skelgen_message_made(MPI_Message message, MPI_Comm comm, int source, int tag);
struct skelgen_message skelgen_message_taken(MPI_Message message);
void skelgen_messages_close(void);

#endif
