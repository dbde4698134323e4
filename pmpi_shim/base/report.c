/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user is told. */
#include "base/report.h"

#include "base/state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Report a problem on rank 0; one kind of problem once. */
void skelgen_say(const char *format, ...)
{
	static const char *said[16];
	char text[1024];
	va_list arguments;
	int n = snprintf(text, sizeof(text), "skelgen: ");

	if (skelgen.rank != 0)
		return;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		const char *none = NULL;

		if (__atomic_compare_exchange_n(&said[i], &none, format, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			break;
		if (none == format)
			return;
	}
	va_start(arguments, format);
	n += vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, arguments);
	va_end(arguments);
	if (n > (int)sizeof(text) - 2)
		n = (int)sizeof(text) - 2;
	text[n++] = '\n';
	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		errno = 0;
}

/* Why a file cannot be written, in words. */
const char *skelgen_reason(int error)
{
	return error == EOVERFLOW ? "SKELGEN_MAX_BYTES is too small" : strerror(error);
}
