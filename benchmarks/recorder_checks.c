/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does the checksum of a window cost? recorder_checks FILE ROUNDS fills a window of 1 MiB of
 * a mapped file as the recorder does, lets other memory take its place in the caches, and computes
 * its checksum; it prints the CPU time of each round [ns].
 */
#define _GNU_SOURCE
#include "../pmpi_shim/crc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define WINDOW ((size_t)1 << 20)
#define OTHERS ((size_t)64 << 20)

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int file = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	uint8_t *others = malloc(OTHERS);
	uint8_t *window;

	if (file < 0 || !others || ftruncate(file, (off_t)WINDOW) != 0)
		return 1;
	unlink(argv[1]);
	window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (window == MAP_FAILED)
		return 1;
	skelgen_crc32c(0, window, 1);
	for (int round = 0; round < atoi(argv[2]); round++) {
		volatile uint32_t crc;
		double begin;

		for (size_t i = 0; i < WINDOW; i++)
			window[i] = (uint8_t)(i * 7 + (size_t)round);
		memset(others, round, OTHERS);
		begin = now_ns();
		crc = skelgen_crc32c(0, window, WINDOW);
		printf("window %.0f\n", now_ns() - begin);
		(void)crc;
	}
	return 0;
}
