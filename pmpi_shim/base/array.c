/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow. */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

/* Let an array hold `wanted` elements; false when memory is short. */
bool skelgen_room(void **array, size_t *room, size_t wanted, size_t element)
{
	size_t more = *room ? *room : 64;
	void *larger;

	if (wanted <= *room)
		return true;
	if (wanted > SIZE_MAX / 4 / element) /* a negative count, for instance */
		return false;
	while (more < wanted)
		more *= 2;
	larger = realloc(*array, more * element);
	if (!larger)
		return false;
	*array = larger;
	*room = more;
	return true;
}
