/*
 * Rows as text: each has a template, made of literal text and of columns; a part of records.c.
 * Most of the time of an export in text is spent here.
 */
#define SLACK 16 /* bytes that a copy may write too many */

/* Eight digits of a number below 10^8, the first one in the lowest byte. */
static uint64_t eight_digits(uint64_t number)
{
	uint64_t fours = number / 10000 | number % 10000 << 32;
	uint64_t top = (fours * 10486 >> 20) & 0x0000007f0000007f;
	uint64_t twos = ((fours - 100 * top) << 16) + top;
	uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000f;

	return tens + ((twos - 10 * tens) << 8);
}

/* Write all eight digits. */
static uint8_t *write_eight(uint8_t *at, uint64_t number)
{
	uint64_t digits = eight_digits(number) | 0x3030303030303030;

	memcpy(at, &digits, sizeof(digits));
	return at + sizeof(digits);
}

/* Write the digits of a number below 10^8 without zeros in front. */
static uint8_t *write_short(uint8_t *at, uint64_t number)
{
	uint64_t digits = eight_digits(number);
	int zeros = digits ? __builtin_ctzll(digits) & ~7 : 56;

	digits = (digits | 0x3030303030303030) >> zeros;
	memcpy(at, &digits, sizeof(digits));
	return at + 8 - zeros / 8;
}

/* Write a number; the end of it. There is room for 32 bytes. */
static uint8_t *write_integer(uint8_t *at, int64_t number)
{
	const uint64_t e8 = 100000000;
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;

	if (left < 10 && number >= 0) {
		*at = (uint8_t)('0' + left);
		return at + 1;
	}
	if (number < 0)
		*at++ = '-';
	if (left < e8)
		return write_short(at, left);
	if (left < e8 * e8)
		return write_eight(write_short(at, left / e8), left % e8);
	at = write_short(at, left / (e8 * e8));
	left %= e8 * e8;
	return write_eight(write_eight(at, left / e8), left % e8);
}

/* Write a number that may have come before: most times come in several rows. */
static inline uint8_t *write_again(struct skelgen_text *t, uint8_t *at, int64_t number)
{
	struct skelgen_number_text *known;
	uint8_t *end;

	if (number < 10000)
		return write_integer(at, number);
	known = &t->written[(uint64_t)number * 0x9e3779b97f4a7c15u >> 59];
	if (known->number == number) {
		memcpy(at, known->text, sizeof(known->text));
		return at + known->length;
	}
	end = write_integer(at, number);
	memcpy(known->text, at, sizeof(known->text));
	known->number = number;
	known->length = end - at;
	return end;
}

/* Write a thousandth of a number, rounded down before the point as Python does. */
static uint8_t *write_thousandths(uint8_t *at, int64_t number)
{
	int64_t whole = number / 1000, rest = number % 1000;
	uint64_t digits;

	if (rest < 0) {
		rest += 1000;
		whole--;
	}
	at = write_integer(at, whole);
	*at++ = '.';
	digits = (eight_digits((uint64_t)rest) | 0x3030303030303030) >> 40;
	memcpy(at, &digits, sizeof(digits));
	return at + 3;
}

/* Copy some bytes; there is SLACK behind them on both sides. */
static uint8_t *write_bytes(uint8_t *at, const uint8_t *bytes, int64_t length)
{
	for (int64_t done = 0; done < length; done += SLACK)
		memcpy(at + done, bytes + done, SLACK);
	return at + length;
}

/* Write one part of a row. */
static inline uint8_t *write_part(struct skelgen_text *t, const struct skelgen_text_part *part,
				  const struct skelgen_record_group *group, uint8_t *at)
{
	int64_t number;

	at = write_bytes(at, t->literals + part->first, part->length);
	if (part->kind == SKELGEN_TEXT_NOTHING)
		return at;
	number = value(group, part->column);
	switch (part->kind) {
	case SKELGEN_TEXT_NAME:
		if (number < 0 || number >= t->name_count)
			return at;
		return write_bytes(at, t->names + t->name_first[number],
				   t->name_first[number + 1] - t->name_first[number]);
	case SKELGEN_TEXT_THOUSANDTHS:
		return write_thousandths(at, number);
	case SKELGEN_TEXT_OR:
		if (number < 0)
			return write_bytes(at, t->literals + part->other_first, part->other_length);
		/* fall through */
	default:
		return write_again(t, at, number);
	}
}

static int write_row(struct skelgen_text *t, const struct skelgen_record_group *group)
{
	int32_t kind = group->kind[group->next];
	uint8_t *at = t->out + t->used;

	if (t->row_end && t->row_count == t->row_capacity)
		return SKELGEN_RECORDS_FULL;
	if (kind >= 0 && kind < t->template_count) {
		if (t->capacity - t->used < t->longest[kind])
			return SKELGEN_RECORDS_FULL;
		for (int64_t p = t->part_first[kind]; p < t->part_first[kind + 1]; p++)
			at = write_part(t, &t->parts[p], group, at);
	}
	t->used = at - t->out;
	if (t->row_end) {
		t->row_time[t->row_count] = group->time ? group->time[group->next] : 0;
		t->row_end[t->row_count++] = t->used;
	}
	return SKELGEN_RECORDS_DONE;
}

/* Write the rows of all groups in the order of their keys, as far as there is room. */
int skelgen_write_text(struct skelgen_text *t, struct skelgen_record_group *groups, int64_t count)
{
	struct skelgen_record_group *group;

	note_heads(groups, count);
	while ((group = first_group(groups, count))) {
		int stop = write_row(t, group);

		if (stop != SKELGEN_RECORDS_DONE)
			return stop;
		next_row(group);
	}
	return SKELGEN_RECORDS_DONE;
}

static int before(const struct skelgen_lanes *l, int64_t a, int64_t b)
{
	int64_t time_a = l->lanes[a].time[l->lanes[a].next];
	int64_t time_b = l->lanes[b].time[l->lanes[b].next];

	return time_a != time_b ? time_a < time_b : a < b;
}

static void sift(struct skelgen_lanes *l, int64_t place, int64_t count)
{
	int64_t moved = l->heap[place];

	for (;;) {
		int64_t child = 2 * place + 1;

		if (child >= count)
			break;
		if (child + 1 < count && before(l, l->heap[child + 1], l->heap[child]))
			child++;
		if (!before(l, l->heap[child], moved))
			break;
		l->heap[place] = l->heap[child];
		place = child;
	}
	l->heap[place] = moved;
}

/* Copy the next row of a lane; whether there was room. */
static int copy_row(struct skelgen_lanes *l, struct skelgen_lane *lane)
{
	int64_t first = lane->next ? lane->end[lane->next - 1] : 0;
	int64_t length = lane->end[lane->next] - first;

	if (l->capacity - l->used < length)
		return 0;
	memcpy(l->out + l->used, lane->bytes + first, (size_t)length);
	l->used += length;
	lane->next++;
	return 1;
}

/* Put the rows of all lanes in order of time; rows of one lane keep theirs. */
int skelgen_merge_text(struct skelgen_lanes *l)
{
	int64_t count = 0;

	for (int64_t lane = 0; lane < l->count; lane++) {
		if (l->lanes[lane].next < l->lanes[lane].count) {
			l->heap[count++] = lane;
		} else if (!l->lanes[lane].ended) {
			l->wanted = lane;
			return SKELGEN_RECORDS_NEXT;
		}
	}
	for (int64_t place = count / 2 - 1; place >= 0; place--)
		sift(l, place, count);
	while (count) {
		struct skelgen_lane *lane = &l->lanes[l->heap[0]];

		if (!copy_row(l, lane))
			return SKELGEN_RECORDS_FULL;
		if (lane->next == lane->count) {
			if (!lane->ended) {
				l->wanted = l->heap[0];
				return SKELGEN_RECORDS_NEXT;
			}
			l->heap[0] = l->heap[--count];
		}
		if (count)
			sift(l, 0, count);
	}
	return SKELGEN_RECORDS_DONE;
}
