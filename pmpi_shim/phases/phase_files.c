/* SPDX-License-Identifier: BSD-3-Clause */
/* Read the marks of a rank and write its times. */
#include "phases/phase_files.h"

#include "base/array.h"
#include "base/mpi_library.h"
#include "base/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 1000000
#define LONGEST_NAME 2100

static void name_file(char name[LONGEST_NAME], int rank, const char *kind)
{
	snprintf(name, LONGEST_NAME, "%s/rank-%06d.%s", skelgen.phases, rank, kind);
}

static void aim(struct skelgen_marks *marks)
{
	marks->next_count =
		marks->next < marks->mark_count ? marks->marks[marks->next].count : UINT64_MAX;
}

static bool read_line(FILE *file, struct skelgen_mark *mark)
{
	static const char *const words[] = {
		[MARK_TIME] = "time",
		[MARK_PROBE] = "probe",
		[MARK_HOLD] = "hold",
		[MARK_STOP] = "stop",
	};
	char word[8];

	if (fscanf(file, "%" SCNu64 " %7s", &mark->count, word) != 2)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		mark->action = (enum skelgen_action)i;
		if (strcmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

bool skelgen_read_marks(struct skelgen_marks *marks, uint64_t count)
{
	char name[LONGEST_NAME];
	struct skelgen_mark mark;
	struct stat facts;
	size_t room = 0;
	bool whole;
	FILE *file;

	name_file(name, skelgen.rank, "marks");
	file = fopen(name, "re");
	if (!file)
		return false;
	free(marks->marks);
	marks->marks = NULL;
	marks->mark_count = 0;
	marks->next = 0;
	while (read_line(file, &mark) && mark.count >= count) {
		if (!skelgen_room((void **)&marks->marks, &room, marks->mark_count + 1,
				  sizeof(mark)))
			break;
		marks->marks[marks->mark_count++] = mark;
	}
	whole = feof(file) && marks->mark_count && fstat(fileno(file), &facts) == 0;
	if (whole)
		marks->inode = facts.st_ino;
	fclose(file);
	aim(marks);
	return whole;
}

bool skelgen_has_marks(int rank)
{
	char name[LONGEST_NAME];

	name_file(name, rank, "marks");
	return access(name, F_OK) == 0;
}

void skelgen_wait_for_marks(const struct skelgen_marks *marks)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	char name[LONGEST_NAME];
	struct stat facts;

	name_file(name, skelgen.rank, "marks");
	while (stat(name, &facts) != 0 || facts.st_ino == marks->inode)
		nanosleep(&pause, NULL);
}

enum skelgen_action skelgen_pass_mark(struct skelgen_marks *marks)
{
	enum skelgen_action action = marks->marks[marks->next++].action;

	aim(marks);
	return action;
}

void skelgen_return_mark(struct skelgen_marks *marks)
{
	marks->next--;
	aim(marks);
}

void skelgen_keep_time(struct skelgen_times *times, struct skelgen_time one)
{
	if (!skelgen_room((void **)&times->taken, &times->room, times->taken_count + 1,
			  sizeof(*times->taken)))
		return;
	times->taken[times->taken_count++] = one;
}

static const char *function_name(uint32_t id)
{
	for (size_t i = 0; id && i < skelgen_function_count; i++)
		if (skelgen_functions[i].id == id)
			return skelgen_functions[i].name;
	return "MPI_Finalize";
}

void skelgen_write_times(const struct skelgen_times *times, const char *word, uint64_t count)
{
	char name[LONGEST_NAME];
	char place[LONGEST_NAME];
	FILE *file;
	bool failed;

	name_file(place, skelgen.rank, "times");
	name_file(name, skelgen.rank, "times.part");
	file = fopen(name, "we");
	if (!file) {
		skelgen_say("cannot write %s: %s", name, strerror(errno));
		return;
	}
	for (size_t i = 0; i < times->taken_count; i++) {
		const struct skelgen_time *one = &times->taken[i];
		double ns =
			(double)(one->units << skelgen.shift) * 1e9 / (double)skelgen.ticks_per_s;

		fprintf(file, "%" PRIu64 " %.0f %s\n", one->count, ns,
			one->probe ? "probe" : function_name(one->function));
	}
	fprintf(file, "%s %" PRIu64 "\n", word, count);
	failed = ferror(file);
	if (fclose(file) != 0 || failed || rename(name, place) != 0)
		skelgen_say("cannot write %s: %s", name, strerror(errno));
}
