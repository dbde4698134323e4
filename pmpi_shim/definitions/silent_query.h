/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions that the program's error handlers do not hear. */
#ifndef SKELGEN_SILENT_QUERY_H
#define SKELGEN_SILENT_QUERY_H

#include "base/state.h"

/* Between these two MPI may be asked about a handle that may be wrong. */
struct skelgen_unheard {
	MPI_Errhandler world;
	MPI_Errhandler self;
};
struct skelgen_unheard skelgen_ask(void);
void skelgen_asked(struct skelgen_unheard own);

#endif
