/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of a run that is measured: what each rank does at which of its calls, and the times
 * that it took there.
 *
 * rank-000003.marks: lines of a count and what to do there, ascending
 *   time  take the time
 *   probe do a fixed piece of arithmetic, which times leave out
 *   hold  wait until the file is replaced by another one, and go on with that
 *   stop  end the program
 * rank-000003.times, renamed to its place when it is written: a line for each time taken, with the
 * count, the time [ns] and the function that was called then, for each probe one with the count,
 * how long it took [ns] and "probe"; at the end a word and the count
 *   held, stopped (or stopping: by MPI_Abort), finalized; or no-marks with the number of ranks,
 *   when the files are not of as many: then all ranks end as soon as MPI is open
 */
#ifndef SKELGEN_PHASE_FILES_H
#define SKELGEN_PHASE_FILES_H

#include "base/state.h"

#include <sys/types.h>

enum skelgen_action {
	MARK_TIME,
	MARK_PROBE,
	MARK_HOLD,
	MARK_STOP,
};

struct skelgen_mark {
	uint64_t count;
	enum skelgen_action action;
};

struct skelgen_marks {
	struct skelgen_mark *marks;
	size_t mark_count;
	size_t next;
	uint64_t next_count; /* of marks[next]; UINT64_MAX: none is left */
	ino_t inode;         /* of the file */
};

/* Read the marks from a count on; false: there is no such file, or it is not one of ours. */
bool skelgen_read_marks(struct skelgen_marks *marks, uint64_t count);

/* Whether there are marks for a rank. */
bool skelgen_has_marks(int rank);

/* Wait until the file of marks is another one. */
void skelgen_wait_for_marks(const struct skelgen_marks *marks);

/* Return what the next mark says, and go on behind it. */
enum skelgen_action skelgen_pass_mark(struct skelgen_marks *marks);

/* Go back before the mark that was passed last. */
void skelgen_return_mark(struct skelgen_marks *marks);

struct skelgen_time {
	uint64_t count;
	uint64_t units;
	uint32_t function;
	bool probe; /* units are its length */
};

struct skelgen_times {
	struct skelgen_time *taken;
	size_t taken_count;
	size_t room;
};

void skelgen_keep_time(struct skelgen_times *times, struct skelgen_time one);

/* Write all times so far, and what became of this rank at which count. */
void skelgen_write_times(const struct skelgen_times *times, const char *word, uint64_t count);

#endif
