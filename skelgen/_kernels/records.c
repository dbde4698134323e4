/* SPDX-License-Identifier: BSD-3-Clause */
#include "records.h"
#include <stddef.h>
#include <string.h>

/* The group whose next row comes first; the earlier of two with equal keys. */
static struct skelgen_record_group *first_group(struct skelgen_record_group *groups, int64_t count)
{
	struct skelgen_record_group *first = NULL;

	for (int64_t g = 0; g < count; g++) {
		struct skelgen_record_group *group = &groups[g];

		if (group->next < group->count &&
		    (!first || group->key[group->next] < first->key[first->next]))
			first = group;
	}
	return first;
}

static int64_t value(const struct skelgen_record_group *group, int64_t column)
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
