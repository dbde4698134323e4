/* SPDX-License-Identifier: BSD-3-Clause */
/* All definitions together: their begin, their end, and the numbers of a call's handles. */
#ifndef SKELGEN_DEFINITIONS_H
#define SKELGEN_DEFINITIONS_H

#include "intern/shape.h"

bool skelgen_objects_open(void);
void skelgen_objects_close(void);
void skelgen_identify(struct skelgen_stream *s, const struct skelgen_call *call,
		      struct skelgen_numbers *numbers);

#endif
