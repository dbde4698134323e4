/*
 * One half of the columns at a time; a part of halves.c.
 */
struct half {
	int64_t ordinal;
	int64_t size_bytes;
	int64_t begin_ns;
	int64_t request;
	int32_t event;
	int32_t stream;
	int32_t role;
	int32_t call;
	int32_t by;
	int32_t peer;
	int32_t partner;
	int32_t tag;
	int32_t root;
	int32_t sides;
};

static struct half half_at(const struct skelgen_half_columns *columns, int64_t i)
{
	return (struct half){
		.ordinal = columns->ordinal[i],
		.size_bytes = columns->size_bytes[i],
		.begin_ns = columns->begin_ns[i],
		.request = columns->request[i],
		.event = columns->event[i],
		.stream = columns->stream[i],
		.role = columns->role[i],
		.call = columns->call[i],
		.by = columns->by[i],
		.peer = columns->peer[i],
		.partner = columns->partner[i],
		.tag = columns->tag[i],
		.root = columns->root[i],
		.sides = columns->sides[i],
	};
}

static void put_half(const struct skelgen_half_columns *columns, int64_t i, const struct half *half)
{
	columns->ordinal[i] = half->ordinal;
	columns->size_bytes[i] = half->size_bytes;
	columns->begin_ns[i] = half->begin_ns;
	columns->request[i] = half->request;
	columns->event[i] = half->event;
	columns->stream[i] = half->stream;
	columns->role[i] = half->role;
	columns->call[i] = half->call;
	columns->by[i] = half->by;
	columns->peer[i] = half->peer;
	columns->partner[i] = half->partner;
	columns->tag[i] = half->tag;
	columns->root[i] = half->root;
	columns->sides[i] = half->sides;
}
