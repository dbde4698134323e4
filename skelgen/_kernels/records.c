/* SPDX-License-Identifier: BSD-3-Clause */
#include "records.h"
#include <stddef.h>
#include <string.h>

#define LONGEST_NUMBER 24 /* bytes, with a sign and a point */

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
	if (column < 0 || column >= group->columns)
		return 0;
	return group->values[column][group->next * group->stride[column]];
}

#include "records_text.h"
#include "records_otf2.h"
