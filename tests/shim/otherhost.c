/*
 * Makes two ranks each believe that they share a machine of their own. Its clock is 6 s per
 * machine ahead and, from DRIFT_BASE [ns] on, gains DRIFT_PPM.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int machine(void)
{
	const char *text = getenv("PMI_RANK");

	if (!text)
		text = getenv("OMPI_COMM_WORLD_RANK");
	return text ? atoi(text) / 2 : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	static long long base;
	static double gain;
	int code;

	if (!real) {
		const char *ppm = getenv("DRIFT_PPM");
		const char *from = getenv("DRIFT_BASE");

		gain = ppm ? atof(ppm) * 1e-6 * machine() : 0;
		base = from ? atoll(from) : 0;
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	}
	code = real(clock, t);
	if (clock == CLOCK_MONOTONIC) {
		long long ns = t->tv_sec * 1000000000LL + t->tv_nsec;

		ns += 6000000000LL * machine() + (long long)(gain * (double)(ns - base));
		t->tv_sec = ns / 1000000000;
		t->tv_nsec = ns % 1000000000;
	}
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
	snprintf(text, sizeof(text), "machine-%d\n", machine());
	return fmemopen(text, strlen(text), "r");
}
