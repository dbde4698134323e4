/* SPDX-License-Identifier: BSD-3-Clause */
/* What recording costs. */
#ifndef SKELGEN_RECORDING_COST_H
#define SKELGEN_RECORDING_COST_H

void skelgen_measure_cost(void);

#endif
