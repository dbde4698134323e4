/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in a file once: definitions, among them lists of requests and vectors of counts. */
#include "intern/interned.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mpi_library.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"

#include <stdlib.h>

/* Memory for contents of lists and vectors [8 bytes]; beyond this they are forgotten. */
#define MOST_WORDS ((size_t)9 << 13)

bool skelgen_interned_open(struct skelgen_interned *interned)
{
	*interned = (struct skelgen_interned){
		.next_shape = 1,
		.next_list = 1,
		.next_vector = 1,
		.next_site = 1,
		.next_module = 1,
	};
	interned->words = malloc(MOST_WORDS * sizeof(*interned->words));
	return interned->words != NULL;
}

void skelgen_interned_close(struct skelgen_interned *interned)
{
	skelgen_map_close(&interned->shapes);
	skelgen_map_close(&interned->contents);
	skelgen_map_close(&interned->bases);
	skelgen_map_close(&interned->users);
	skelgen_map_close(&interned->lists);
	skelgen_map_close(&interned->vectors);
	skelgen_map_close(&interned->sites);
	skelgen_map_close(&interned->modules);
	skelgen_map_close(&interned->objects);
	for (size_t i = 0; i < interned->slab_count; i++)
		free(interned->slabs[i]);
	free(interned->slabs);
	free(interned->words);
	*interned = (struct skelgen_interned){0};
}

/* Whether the object's definition stands in this file. */
bool skelgen_known(struct skelgen_stream *s, enum skelgen_record_tag tag, uint32_t id)
{
	return skelgen_map_find(&s->interned.objects, (uint64_t)tag << 32 | id);
}

/* The same; afterwards it counts as standing there. */
bool skelgen_defined(struct skelgen_stream *s, enum skelgen_record_tag tag, uint32_t id)
{
	uint64_t key = (uint64_t)tag << 32 | id;

	if (skelgen_map_find(&s->interned.objects, key))
		return true;
	skelgen_map_set(&s->interned.objects, key, 1);
	return false;
}

void skelgen_define_function(struct skelgen_stream *s, uint32_t id)
{
	uint8_t payload[256];
	uint8_t *p = payload;

	if (skelgen_defined(s, SKELGEN_REC_FUNCTION, id))
		return;
	for (size_t i = 0; i < skelgen_function_count; i++) {
		const struct skelgen_function *f = &skelgen_functions[i];

		if (f->id != id)
			continue;
		p = skelgen_put_varint(p, f->id);
		p = skelgen_put_string(p, f->name, strlen(f->name));
		p = skelgen_put_varint(p, f->kind);
		skelgen_define(s, SKELGEN_REC_FUNCTION, payload, (size_t)(p - payload));
		return;
	}
}

/*
 * Find numbers among those stored, as [n, id, numbers...]; NULL: not there. With `id`
 * they are stored under it.
 */
static const int64_t *find_words(struct skelgen_stream *s, struct skelgen_map *map,
				 const int64_t *numbers, size_t n, uint32_t id)
{
	struct skelgen_interned *in = &s->interned;
	uint64_t hash = skelgen_mix(3, n);
	uint64_t *known;
	int64_t *entry;

	for (size_t i = 0; i < n; i++)
		hash = skelgen_mix(hash, (uint64_t)numbers[i]);
	known = skelgen_map_find(map, hash);
	if (known) {
		entry = in->words + *known;
		if (entry[0] == (int64_t)n && !memcmp(entry + 2, numbers, n * sizeof(*numbers)))
			return entry;
	}
	if (!id || n + 2 > MOST_WORDS)
		return NULL;
	if (in->words_used + n + 2 > MOST_WORDS) {
		skelgen_map_clear(&in->lists);
		skelgen_map_clear(&in->vectors);
		memset(in->known_lists, 0, sizeof(in->known_lists));
		in->words_used = 0;
	}
	entry = in->words + in->words_used;
	entry[0] = (int64_t)n;
	entry[1] = id;
	memcpy(entry + 2, numbers, n * sizeof(*numbers));
	skelgen_map_set(map, hash, in->words_used);
	in->words_used += n + 2;
	return entry;
}

static void define_words(struct skelgen_stream *s, enum skelgen_record_tag tag, uint32_t id,
			 const int64_t *numbers, size_t n)
{
	uint64_t begin = skelgen_now();
	uint8_t *payload = malloc(10 * (n + 2));
	uint8_t *p = payload;
	int64_t previous = 0;

	if (!payload)
		return;
	p = skelgen_put_varint(p, id);
	p = skelgen_put_varint(p, n);
	for (size_t i = 0; i < n; i++) {
		if (tag == SKELGEN_REC_LIST)
			p = skelgen_put_zigzag(p, numbers[i] - previous);
		else
			p = skelgen_put_varint(p, (uint64_t)numbers[i]);
		previous = numbers[i];
	}
	skelgen_define(s, tag, payload, (size_t)(p - payload));
	free(payload);
	s->overhead += skelgen_now() - begin;
	s->special |= SKELGEN_SPECIAL_OVERHEAD;
}

/* The id of numbers, defined if they are new; `entry` is where they are stored, if they are. */
static uint32_t intern_words(struct skelgen_stream *s, enum skelgen_record_tag tag,
			     struct skelgen_map *map, uint32_t *next, const int64_t *numbers,
			     size_t n, const int64_t **entry)
{
	uint32_t id;

	*entry = find_words(s, map, numbers, n, 0);
	if (*entry)
		return (uint32_t)(*entry)[1];
	id = (*next)++;
	define_words(s, tag, id, numbers, n);
	*entry = find_words(s, map, numbers, n, id);
	return id;
}

static struct skelgen_known_list *known_list(struct skelgen_stream *s, uint64_t reference)
{
	return &s->interned.known_lists[(reference >> 2) % KNOWN_LISTS];
}

/* The n requests that the predicted event completes; NULL: unknown, or no list. */
const int64_t *skelgen_predicted_list(struct skelgen_stream *s, size_t *n)
{
	uint64_t reference = s->predicted->reference;
	const struct skelgen_known_list *known = known_list(s, reference);

	if (!known->entry || known->reference != reference)
		return NULL;
	*n = (size_t)known->entry[0];
	return known->entry + 2;
}

/* The reference for the requests in s->ages, defined if it is new. */
uint64_t skelgen_list(struct skelgen_stream *s)
{
	struct skelgen_interned *in = &s->interned;
	size_t n = s->age_count;
	struct skelgen_known_list *known;
	const int64_t *entry;
	uint64_t reference;
	uint32_t id;

	if (n == 0 || skelgen.paused)
		return SKELGEN_REF_NONE;
	if (n == 1 && s->ages[0] > 0)
		return (uint64_t)s->ages[0] << 2 | SKELGEN_REF_AGE;
	if (n == 1)
		return (uint64_t)-s->ages[0] << 2 | SKELGEN_REF_PERSISTENT;
	id = intern_words(s, SKELGEN_REC_LIST, &in->lists, &in->next_list, s->ages, n, &entry);
	reference = (uint64_t)id << 2 | SKELGEN_REF_LIST;
	known = known_list(s, reference);
	known->reference = reference;
	known->entry = entry;
	return reference;
}

/* The id of a vector of counts, defined if it is new. */
uint32_t skelgen_vector(struct skelgen_stream *s, int64_t *counts, size_t n)
{
	struct skelgen_interned *in = &s->interned;
	const int64_t *entry;

	if (skelgen.paused)
		return 0;
	return intern_words(s, SKELGEN_REC_VECTOR, &in->vectors, &in->next_vector, counts, n,
			    &entry);
}
