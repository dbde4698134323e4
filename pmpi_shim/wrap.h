/* SPDX-License-Identifier: BSD-3-Clause */
/* What only the generated wrappers use. */
#ifndef SKELGEN_WRAP_H
#define SKELGEN_WRAP_H

#include "recorder.h"

/* Size and place in a communicator, as far as collectives need them. */
struct skelgen_view {
	int rank;
	int size;
	int peers;
	bool inter;
	struct skelgen_neighbours around; /* its ranks belong to the communicator */
};

struct skelgen_finalize {
	struct skelgen_stream *stream;
	uint64_t begin;
	bool ends; /* whether the recording ends here */
};

struct skelgen_view skelgen_view(MPI_Comm comm, bool succeeded);
/*
 * Vectors of n counts, or of bytes, where types with holes set a flag. With `ranks` those of
 * MPI_PROC_NULL are left out: nothing is sent there.
 */
uint32_t skelgen_counts_int(struct skelgen_stream *s, const int counts[], size_t n,
			    const int ranks[]);
uint32_t skelgen_counts_large(struct skelgen_stream *s, const MPI_Count counts[], size_t n,
			      const int ranks[]);
uint32_t skelgen_bytes_int(struct skelgen_stream *s, const int counts[], const MPI_Datatype types[],
			   size_t n, const int ranks[], uint32_t *flags);
uint32_t skelgen_bytes_large(struct skelgen_stream *s, const MPI_Count counts[],
			     const MPI_Datatype types[], size_t n, const int ranks[],
			     uint32_t *flags);
uint32_t skelgen_equal_counts(struct skelgen_stream *s, int64_t count, size_t n, const int ranks[]);
#define skelgen_counts(s, counts, n, ranks)                                                 \
	_Generic((counts), const int *: skelgen_counts_int, default: skelgen_counts_large)( \
		s, counts, n, ranks)
#define skelgen_counted_bytes(s, counts, types, n, ranks, flags)                          \
	_Generic((counts), const int *: skelgen_bytes_int, default: skelgen_bytes_large)( \
		s, counts, types, n, ranks, flags)

bool skelgen_init_begin(void);
bool skelgen_init_done(int code);
void skelgen_init_end(int code, uint32_t function, uint64_t site);
void skelgen_start(uint32_t function, uint64_t site, uint64_t end, uint64_t since);
struct skelgen_finalize skelgen_ending(void);
struct skelgen_finalize skelgen_finalize_begin(void);
void skelgen_finalize_end(struct skelgen_finalize state, int code, uint32_t function,
			  uint64_t site);
bool skelgen_session_enter(void);
void skelgen_session_leave(bool outer);
void skelgen_session_opened(int code, bool first, const void *handle, bool fortran,
			    uint32_t function, uint64_t site);
void skelgen_session_joined(int code, const MPI_Comm *created);
struct skelgen_finalize skelgen_session_closing(bool outer);
void skelgen_aborting(uint32_t function, uint64_t site, int errorcode);
void skelgen_control(uint32_t function, uint64_t site, int level);

/* window.c */
void skelgen_window_made(struct skelgen_stream *s, enum skelgen_comm_kind kind, MPI_Comm parent,
			 uint64_t window, int64_t bytes, int64_t unit);
void skelgen_file_made(struct skelgen_stream *s, MPI_Comm parent, uint64_t file, const char *name,
		       int mode);
uint32_t skelgen_group_members(struct skelgen_stream *s, MPI_Win window, MPI_Group group);

/* Tags of Win_fence and Win_lock. */
SKELGEN_INLINE int32_t skelgen_assertion(int assertion)
{
	return (assertion & MPI_MODE_NOSTORE ? SKELGEN_ASSERT_NOSTORE : 0) |
	       (assertion & MPI_MODE_NOPUT ? SKELGEN_ASSERT_NOPUT : 0) |
	       (assertion & MPI_MODE_NOPRECEDE ? SKELGEN_ASSERT_NOPRECEDE : 0) |
	       (assertion & MPI_MODE_NOSUCCEED ? SKELGEN_ASSERT_NOSUCCEED : 0);
}

SKELGEN_INLINE int32_t skelgen_lock_type(int type)
{
	return type == MPI_LOCK_SHARED ? SKELGEN_LOCK_SHARED : SKELGEN_LOCK_EXCLUSIVE;
}

/* Whether this rank is the root of a rooted collective, also in an intercommunicator. */
SKELGEN_INLINE bool skelgen_is_root(struct skelgen_view view, int root)
{
	return root == MPI_ROOT || (!view.inter && view.rank == root);
}

/* Count a call that is passed on. Returns the stream to restore afterwards. */
SKELGEN_INLINE struct skelgen_stream *skelgen_count(size_t index)
{
	struct skelgen_stream *s = skelgen_current;

	if (unlikely(!skelgen_resolved))
		skelgen_resolve();
	if (!s)
		return NULL;
	if (unlikely(skelgen.multiple))
		__atomic_fetch_add(&skelgen_passed[index], 1, __ATOMIC_RELAXED);
	else
		skelgen_passed[index]++;
	skelgen_current = NULL;
	s->frame = SKELGEN_FRAME;
	return s;
}

/* Add the time inside a call that was passed on. */
SKELGEN_INLINE void skelgen_spent(size_t index, uint64_t units)
{
	if (unlikely(skelgen.multiple))
		__atomic_fetch_add(&skelgen_passed_units[index], units, __ATOMIC_RELAXED);
	else
		skelgen_passed_units[index] += units;
}

#endif
