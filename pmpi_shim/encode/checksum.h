/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums of what is in the file. */
#ifndef SKELGEN_CHECKSUM_H
#define SKELGEN_CHECKSUM_H

#include "base/state.h"

uint32_t skelgen_check_header(const struct skelgen_header *header);
uint32_t skelgen_check_window(const struct skelgen_stream *s);
void skelgen_check_put(struct skelgen_stream *s, uint32_t crc, size_t following);

#endif
