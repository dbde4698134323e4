/*
 * A table from two numbers to a row; a part of halves.c. Open addressing, at most half full; what
 * is taken out leaves no mark behind, so memory is for what is in it at a time.
 */
struct entry {
	uint64_t first;
	uint64_t second;
	uint32_t row; /* plus 1, 0: free */
};

struct table {
	struct entry *entries;
	uint64_t size; /* a power of two, or 0 */
	uint64_t used;
};

/* Keys whose second numbers follow each other get places that do, as requests have. */
static uint64_t home_of(const struct table *table, uint64_t first, uint64_t second)
{
	uint64_t code = (first ^ first >> 32) * 0x9e3779b97f4a7c15u;

	code = (code ^ code >> 32) + second + (second >> 32) * 0x9e3779b97f4a7c15u;
	return code & (table->size - 1);
}

/* Where an entry is, or the free place where it would be. */
static struct entry *entry_of(const struct table *table, uint64_t first, uint64_t second)
{
	uint64_t at = home_of(table, first, second);

	while (table->entries[at].row &&
	       (table->entries[at].first != first || table->entries[at].second != second))
		at = (at + 1) & (table->size - 1);
	return &table->entries[at];
}

/* The entry of a key; NULL when there is none. */
static struct entry *find_entry(const struct table *table, uint64_t first, uint64_t second)
{
	struct entry *entry = table->size ? entry_of(table, first, second) : NULL;

	return entry && entry->row ? entry : NULL;
}

static int grow_table(struct table *table)
{
	struct table larger = {.size = table->size ? 2 * table->size : 64};

	larger.entries = calloc(larger.size, sizeof(*larger.entries));
	if (!larger.entries)
		return -1;
	for (uint64_t at = 0; at < table->size; at++) {
		const struct entry *old = &table->entries[at];

		if (old->row)
			*entry_of(&larger, old->first, old->second) = *old;
	}
	larger.used = table->used;
	free(table->entries);
	*table = larger;
	return 0;
}

/* Put a row in under a key, in place of one that is there. */
static int put_entry(struct table *table, uint64_t first, uint64_t second, uint32_t row)
{
	struct entry *entry;

	if (2 * (table->used + 1) > table->size && grow_table(table))
		return -1;
	entry = entry_of(table, first, second);
	table->used += !entry->row;
	*entry = (struct entry){.first = first, .second = second, .row = row + 1};
	return 0;
}

/* Take an entry out and move those behind it that would not be found any more. */
static void take_entry(struct table *table, struct entry *entry)
{
	uint64_t mask = table->size - 1, hole = (uint64_t)(entry - table->entries), at = hole;

	for (;;) {
		const struct entry *next;

		at = (at + 1) & mask;
		next = &table->entries[at];
		if (!next->row)
			break;
		if (((at - home_of(table, next->first, next->second)) & mask) <
		    ((at - hole) & mask))
			continue;
		table->entries[hole] = *next;
		hole = at;
	}
	table->entries[hole].row = 0;
	table->used--;
}
