/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user set. */
#ifndef SKELGEN_SETTINGS_H
#define SKELGEN_SETTINGS_H

void skelgen_read_settings(void);

#endif
