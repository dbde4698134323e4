/* SPDX-License-Identifier: BSD-3-Clause */
#include "records.h"
#include <stddef.h>
#include <string.h>

/* Note the key of the next row of a group. */
static void note_head(struct skelgen_record_group *group)
{
	group->head = group->next < group->count ? group->key[group->next] : INT64_MAX;
}

static void note_heads(struct skelgen_record_group *groups, int64_t count)
{
	for (int64_t g = 0; g < count; g++)
		note_head(&groups[g]);
}

/* The group whose next row comes first; the earlier of two with equal keys. */
static struct skelgen_record_group *first_group(struct skelgen_record_group *groups, int64_t count)
{
	struct skelgen_record_group *first = NULL;
	int64_t head = INT64_MAX;

	for (int64_t g = 0; g < count; g++) {
		if (groups[g].head < head) {
			first = &groups[g];
			head = first->head;
		}
	}
	return first;
}

static void next_row(struct skelgen_record_group *group)
{
	group->next++;
	note_head(group);
}

static inline int64_t value(const struct skelgen_record_group *group, int64_t column)
{
	const uint8_t *at;
	int32_t narrow;
	int64_t wide;

	if (column < 0 || column >= group->columns)
		return 0;
	at = group->values[column] + group->next * group->stride[column];
	if (group->narrow[column]) {
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

#include "records_text.h"
#include "records_otf2.h"
