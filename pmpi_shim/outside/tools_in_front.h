/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools whose functions come before ours. */
#ifndef SKELGEN_TOOLS_IN_FRONT_H
#define SKELGEN_TOOLS_IN_FRONT_H

#include "base/state.h"

#define SKELGEN_MOST_FRONTS 8
#define SKELGEN_FRONT_BYTES 512
struct skelgen_front {
	const void *base;                         /* where its object is loaded */
	bool seen;                                /* one of its functions called ours */
	unsigned functions;                       /* of MPI that it has */
	char name[256];                           /* file name of its object */
	char functions_text[SKELGEN_FRONT_BYTES]; /* names of the first ones */
};
size_t skelgen_fronts_find(struct skelgen_front fronts[SKELGEN_MOST_FRONTS]);
const char *skelgen_front_of(const char *function);

#endif
