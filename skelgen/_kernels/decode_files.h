/*
 * Many small files in a row, with tables that they share; a part of decode.c.
 */
#define FIRST_SLOT_BITS 6

/* Let the tables of the file at work begin behind the rows that those before it have. */
static void begin_file(struct skelgen_files *all, const struct skelgen_file *file)
{
	const struct skelgen_stream *tables = &all->tables;
	struct skelgen_stream *stream = &all->at_work;

	memset(stream, 0, sizeof(*stream));
	stream->data = all->data + file->data;
	stream->size = stream->pause = file->end;
	stream->position = file->begin;
	stream->ns_per_unit = file->ns_per_unit;
	if (tables->definitions) {
		stream->definitions = tables->definitions + tables->definition_count;
		stream->definition_capacity =
			tables->definition_capacity - tables->definition_count;
	}
	stream->shapes = tables->shapes + tables->shape_count;
	stream->shape_capacity = tables->shape_capacity - tables->shape_count;
}

/* Let its columns begin behind the events of those before it. */
static void begin_columns(struct skelgen_files *all, const struct skelgen_file *file)
{
	const struct skelgen_stream *tables = &all->tables;
	struct skelgen_stream *stream = &all->at_work;

	stream->shape_capacity = file->shapes;
	stream->variants = tables->variants + tables->variant_count;
	stream->slots = tables->slots;
	stream->variant = tables->variant + tables->event_count;
	stream->reference = tables->reference + tables->event_count;
	stream->size_bytes = tables->size_bytes + tables->event_count;
	stream->enter_ns = tables->enter_ns + tables->event_count;
	stream->leave_ns = tables->leave_ns + tables->event_count;
	stream->compute_ns = tables->compute_ns + tables->event_count;
	stream->event_capacity = file->events;
	stream->statuses = tables->statuses + tables->status_count;
	stream->status_capacity = file->statuses;
	stream->foreign = tables->foreign + tables->foreign_count;
	stream->foreign_capacity = file->foreign;
	stream->vectors = tables->vectors + tables->vector_count;
	stream->vector_capacity = file->vectors;
	stream->away = tables->away + tables->away_count;
	stream->away_capacity = file->away;
	stream->origin_ns = file->origin_ns;
	stream->cost_ns = file->cost_ns;
	stream->request_cost_ps = file->request_cost_ps;
}

/* Let the file at work have more variants; false: the table of all files has no more room. */
static bool more_variants(const struct skelgen_stream *tables, struct skelgen_stream *stream)
{
	int64_t rest = tables->variant_capacity - tables->variant_count;
	int64_t bits = stream->slot_bits ? stream->slot_bits + 1 : FIRST_SLOT_BITS;
	int64_t rows = (int64_t)1 << (bits - 1);

	if (bits > tables->slot_bits || stream->variant_count >= rest)
		return false;
	stream->slot_bits = bits;
	stream->variant_capacity = rows < rest ? rows : rest;
	memset(stream->slots, 0, sizeof(*stream->slots) << bits);
	skelgen_decode_rehash(stream);
	return true;
}

/* Its rows are taken; those in columns are, even where fewer were found. */
static void end_file(struct skelgen_stream *tables, const struct skelgen_stream *stream,
		     const struct skelgen_file *file)
{
	tables->definition_count += stream->definition_count;
	tables->shape_count += tables->slots ? file->shapes : stream->shape_count;
	tables->variant_count += stream->variant_count;
	tables->event_count += file->events;
	tables->status_count += file->statuses;
	tables->foreign_count += file->foreign;
	tables->vector_count += file->vectors;
	tables->away_count += file->away;
}

static struct skelgen_found found_in(const struct skelgen_stream *stream, int stop)
{
	return (struct skelgen_found){
		.stop = stop,
		.position = stream->position,
		.definitions = stream->definition_count,
		.shapes = stream->shape_count,
		.variants = stream->variant_count,
		.implausible = stream->implausible_count,
		.events = stream->event_count,
		.requests = stream->request_count,
		.persistent = stream->persistent_count,
		.polls = stream->poll_count,
		.errors = stream->error_count,
		.statuses = stream->status_count,
		.foreign = stream->foreign_count,
		.vectors = stream->vector_count,
		.away = stream->away_count,
		.handled = stream->handled_count,
		.duration_units = stream->time_units,
		.overhead_units = stream->overhead_units,
		.compute_units = stream->compute_units,
		.long_units = stream->long_units,
		.lost_us = stream->lost_us,
		.told_us = stream->told_us,
		.queued_us = stream->queued_us,
	};
}

/* Decode each file as far as it and its room go. */
void skelgen_decode_files(struct skelgen_files *all)
{
	struct skelgen_stream *tables = &all->tables, *stream = &all->at_work;

	for (int64_t i = 0; i < all->count; i++) {
		const struct skelgen_file *file = &all->files[i];
		int stop;

		begin_file(all, file);
		if (tables->slots)
			begin_columns(all, file);
		do
			stop = skelgen_decode(stream);
		while (stop == SKELGEN_STOP_GROW_VARIANTS && more_variants(tables, stream));
		all->found[i] = found_in(stream, stop);
		end_file(tables, stream, file);
	}
}
