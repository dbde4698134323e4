/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI_Finalize of some libraries demands of the ranks that enter it. */
#ifndef SKELGEN_FINALIZE_PAUSE_H
#define SKELGEN_FINALIZE_PAUSE_H

void skelgen_pause_before_finalize(void);

#endif
