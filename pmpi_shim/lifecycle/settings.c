/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user set. */
#include "lifecycle/settings.h"

#include "base/report.h"
#include "intern/call_site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The rank as the launcher tells it, for messages until MPI says it. */
static int launched_rank(void)
{
	static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
					    "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *rank = getenv(names[i]);

		if (rank)
			return atoi(rank);
	}
	return 0;
}

static void read_path(const char *name, const char *otherwise, char *path, size_t bytes)
{
	const char *text = getenv(name);

	snprintf(path, bytes, "%s", text && *text ? text : otherwise);
}

/* A number with an optional k, M or G (powers of 1024); `otherwise` when it is none. */
static uint64_t read_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	char *rest;
	unsigned long long number;

	if (!text || !*text)
		return otherwise;
	errno = 0;
	number = strtoull(text, &rest, 10);
	for (const char *unit = "kMG"; rest != text && *rest && *unit; unit++) {
		number = number > UINT64_MAX >> 10 ? UINT64_MAX : number << 10;
		if (*rest == *unit) {
			rest++;
			break;
		}
	}
	if (*rest || rest == text || *text == '-' || errno) {
		skelgen_say("%s=%s is no number; it is ignored", name, text);
		return otherwise;
	}
	return number;
}

/* The only place that reads the environment. */
void skelgen_read_settings(void)
{
	const char *clock = getenv("SKELGEN_CLOCK");
	uint64_t frames;

	skelgen.rank = launched_rank();
	read_path("SKELGEN_DIR", "skelgen-run", skelgen.directory, sizeof(skelgen.directory));
	read_path("SKELGEN_TMPDIR", "", skelgen.local, sizeof(skelgen.local));
	read_path("SKELGEN_PHASES", "", skelgen.phases, sizeof(skelgen.phases));
	skelgen.max_run_bytes = read_number("SKELGEN_MAX_BYTES", 0);
	skelgen.sampling = read_number("SKELGEN_CPU_TIME", 1) != 0;
	frames = read_number("SKELGEN_CALLSTACK", 1);
	skelgen.callstack = frames > SKELGEN_MOST_FRAMES ? SKELGEN_MOST_FRAMES : (unsigned)frames;
	skelgen.prefer_monotonic = clock && strcmp(clock, "monotonic") == 0;
	if (clock && *clock && !skelgen.prefer_monotonic && strcmp(clock, "tsc") != 0)
		skelgen_say("SKELGEN_CLOCK=%s is neither tsc nor monotonic; it is ignored", clock);
}
