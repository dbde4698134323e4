/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow. */
#ifndef SKELGEN_ARRAY_H
#define SKELGEN_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

bool skelgen_room(void **array, size_t *room, size_t wanted, size_t element);

#endif
