/* Makes a rank believe that it runs on a machine of its own, whose clock is 3 s per rank ahead. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank(void)
{
	const char *text = getenv("PMI_RANK");

	if (!text)
		text = getenv("OMPI_COMM_WORLD_RANK");
	return text ? atoi(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	int code;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	code = real(clock, t);
	if (clock == CLOCK_MONOTONIC)
		t->tv_sec += 3 * rank();
	return code;
}

FILE *fopen(const char *path, const char *mode)
{
	static FILE *(*real)(const char *, const char *);
	static char text[64];

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	if (!strstr(path, "boot_id"))
		return real(path, mode);
	snprintf(text, sizeof(text), "machine-%d\n", rank() / 2);
	return fmemopen(text, strlen(text), "r");
}
