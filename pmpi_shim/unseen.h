/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank does and no event shows: unseen.c, posix.c, front.c. Included by recorder.h. */
#ifndef SKELGEN_UNSEEN_H
#define SKELGEN_UNSEEN_H

#include "state.h"

/* unseen.c */
void skelgen_unseen_begin(void);
void skelgen_unseen_thread_begins(struct skelgen_stream *s, uint64_t cpu_ns);
void skelgen_unseen_thread_ends(struct skelgen_stream *s);
void skelgen_unseen_stop(void);
void skelgen_unseen_write(struct skelgen_stream *s);

/* posix.c: reads and writes of files outside MPI by threads that call MPI */
struct skelgen_file_io {
	uint64_t ticks;
	uint64_t bytes;
};
struct skelgen_file_io skelgen_file_io_take(void);

/* front.c: tools whose functions come before ours */
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
