/* SPDX-License-Identifier: BSD-3-Clause */
/* What windows and files are, beside their group: sizes, names, groups of partners. */
#include "definitions/windows_and_files.h"

#include "base/mpi_library.h"
#include "definitions/communicator.h"
#include "encode/varint.h"
#include "intern/interned.h"

#include <stdlib.h>

#define LONGEST_NAME 240

/* A window was made from a communicator; `bytes` and `unit` are 0 where it has none yet. */
void skelgen_window_made(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			 uint64_t window, int64_t bytes, int64_t unit)
{
	uint8_t detail[32];
	uint8_t *p = detail;

	p = skelgen_put_varint(p, bytes > 0 ? (uint64_t)bytes : 0);
	p = skelgen_put_varint(p, unit > 0 ? (uint64_t)unit : 0);
	skelgen_object_made(s, kind, parent, window, SKELGEN_REC_WINDOW, detail,
			    (size_t)(p - detail));
}

static uint32_t access_mode(int mode)
{
	static const struct {
		int theirs;
		uint32_t ours;
	} bits[] = {
		{MPI_MODE_RDONLY, SKELGEN_MODE_RDONLY},
		{MPI_MODE_RDWR, SKELGEN_MODE_RDWR},
		{MPI_MODE_WRONLY, SKELGEN_MODE_WRONLY},
		{MPI_MODE_CREATE, SKELGEN_MODE_CREATE},
		{MPI_MODE_EXCL, SKELGEN_MODE_EXCL},
		{MPI_MODE_DELETE_ON_CLOSE, SKELGEN_MODE_DELETE_ON_CLOSE},
		{MPI_MODE_UNIQUE_OPEN, SKELGEN_MODE_UNIQUE_OPEN},
		{MPI_MODE_SEQUENTIAL, SKELGEN_MODE_SEQUENTIAL},
		{MPI_MODE_APPEND, SKELGEN_MODE_APPEND},
	};
	uint32_t found = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (mode & bits[i].theirs)
			found |= bits[i].ours;
	return found;
}

/* A file was opened by the members of a communicator. */
void skelgen_file_made(struct skelgen_stream *s, MPI_Comm parent, uint64_t file, const char *name,
		       int mode)
{
	uint8_t detail[LONGEST_NAME + 32];
	uint8_t *p = detail;
	size_t length = name ? strlen(name) : 0;

	if (length > LONGEST_NAME) {
		name += length - LONGEST_NAME;
		length = LONGEST_NAME;
	}
	p = skelgen_put_varint(p, access_mode(mode));
	p = skelgen_put_string(p, name ? name : "", length);
	skelgen_object_made(s, SKELGEN_COMM_FILE, parent, file, SKELGEN_REC_FILE, detail,
			    (size_t)(p - detail));
}

/* A vector with a 1 for each rank of the window that is in a group. */
uint32_t skelgen_group_members(struct skelgen_stream *s, MPI_Win window, MPI_Group group)
{
	MPI_Group all;
	int size = 0;
	int members = 0;
	int *ranks;
	int64_t *flags;
	uint32_t found = 0;

	if (pmpi.Win_get_group(window, &all) != MPI_SUCCESS)
		return 0;
	pmpi.Group_size(all, &size);
	if (pmpi.Group_size(group, &members) != MPI_SUCCESS)
		members = 0;
	ranks = malloc((2 * (size_t)members + 1) * sizeof(*ranks));
	flags = calloc((size_t)size + 1, sizeof(*flags));
	if (ranks && flags) {
		for (int i = 0; i < members; i++)
			ranks[i] = i;
		pmpi.Group_translate_ranks(group, members, ranks, all, ranks + members);
		for (int i = members; i < 2 * members; i++)
			if (ranks[i] >= 0 && ranks[i] < size)
				flags[ranks[i]] = 1;
		found = skelgen_vector(s, flags, (size_t)size);
	}
	free(ranks);
	free(flags);
	pmpi.Group_free(&all);
	return found;
}
