/*
 * Rows as calls of the OTF2 library: columns are the writer, the time, and the library's arguments;
 * a part of records.c.
 */
#define U32(column) ((uint32_t)value(g, column))
#define U64(column) ((uint64_t)value(g, column))

static int write_record(const struct skelgen_otf2_library *o, const struct skelgen_record_group *g,
			void *writer)
{
	uint64_t time = U64(1);

	switch (g->kind[g->next]) {
	case 0:
		return o->OTF2_EvtWriter_Enter(writer, NULL, time, U32(2));
	case 1:
		return o->OTF2_EvtWriter_Leave(writer, NULL, time, U32(2));
	case 2:
		return o->OTF2_EvtWriter_MpiSend(writer, NULL, time, U32(2), U32(3), U32(4),
						 U64(5));
	case 3:
		return o->OTF2_EvtWriter_MpiIsend(writer, NULL, time, U32(2), U32(3), U32(4),
						  U64(5), U64(6));
	case 4:
		return o->OTF2_EvtWriter_MpiIsendComplete(writer, NULL, time, U64(6));
	case 5:
		return o->OTF2_EvtWriter_MpiIrecvRequest(writer, NULL, time, U64(6));
	case 6:
		return o->OTF2_EvtWriter_MpiRecv(writer, NULL, time, U32(2), U32(3), U32(4),
						 U64(5));
	case 7:
		return o->OTF2_EvtWriter_MpiIrecv(writer, NULL, time, U32(2), U32(3), U32(4),
						  U64(5), U64(6));
	case 8:
		return o->OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, time);
	case 9:
		return o->OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, time, (uint8_t)U32(7),
							  U32(2), U32(3), U64(4), U64(5));
	case 10:
		return o->OTF2_EvtWriter_NonBlockingCollectiveRequest(writer, NULL, time, U64(6));
	case 11:
		return o->OTF2_EvtWriter_NonBlockingCollectiveComplete(
			writer, NULL, time, (uint8_t)U32(7), U32(2), U32(3), U64(4), U64(5),
			U64(6));
	default:
		return o->OTF2_EvtWriter_MpiRequestCancelled(writer, NULL, time, U64(6));
	}
}

/* Write the rows of all groups in the order of their keys; what the library says when it fails. */
int skelgen_write_otf2(struct skelgen_otf2 *o, struct skelgen_record_group *groups, int64_t count)
{
	struct skelgen_record_group *group;

	note_heads(groups, count);
	while ((group = first_group(groups, count))) {
		int32_t kind = group->kind[group->next];
		int64_t writer = value(group, 0);
		int result;

		if (kind >= 0 && kind < 13 && writer >= 0 && writer < o->writer_count) {
			result = write_record(o->library, group, o->writers[writer]);
			if (result)
				return result;
			o->written[kind]++;
		}
		next_row(group);
	}
	return 0;
}
