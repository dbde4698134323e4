/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the process and of each thread; every part reads it. */
#include "base/state.h"

struct skelgen_process skelgen;
__thread struct skelgen_stream *skelgen_current __attribute__((tls_model("initial-exec")));
__thread enum skelgen_place skelgen_place __attribute__((tls_model("initial-exec")));
