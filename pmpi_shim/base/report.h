/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user is told. */
#ifndef SKELGEN_REPORT_H
#define SKELGEN_REPORT_H

void skelgen_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *skelgen_reason(int error);

#endif
