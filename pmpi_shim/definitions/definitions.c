/* SPDX-License-Identifier: BSD-3-Clause */
/* All definitions together: their begin, their end, and the numbers of a call's handles. */
#include "definitions/definitions.h"

#include "definitions/comm_members.h"
#include "definitions/communicator.h"
#include "definitions/datatype.h"
#include "definitions/matched_message.h"
#include "definitions/pending_comm.h"

bool skelgen_objects_open(void)
{
	skelgen_members_open();
	skelgen_ops_open();
	return skelgen_comms_open();
}

void skelgen_objects_close(void)
{
	skelgen_comms_close();
	skelgen_members_close();
	skelgen_promises_close();
	skelgen_types_close();
	skelgen_messages_close();
}

/* Resolve handles into ids and write whatever definition is missing. */
void skelgen_identify(struct skelgen_stream *s, const struct skelgen_call *call,
		      struct skelgen_numbers *numbers)
{
	/* What failed may have had handles that MPI would call the user's error handler for. */
	bool ask = !(call->flags & SKELGEN_SHAPE_FAILED);
	struct skelgen_comm *comm;

	numbers->comm = -1;
	if (call->comm) {
		comm = skelgen_object_find(call->comm);
		if (!comm && ask && !(call->flags & SKELGEN_SHAPE_OBJECT))
			comm = skelgen_comm_find((MPI_Comm)(uintptr_t)call->comm);
		if (comm) {
			numbers->comm = comm->id;
			skelgen_comm_define(s, comm->id);
		}
	}
	numbers->type_a = skelgen_type_id(s, call->type_a, ask);
	numbers->type_b = skelgen_type_id(s, call->type_b, ask);
	numbers->op = skelgen_op_code(call->op, ask);
}
