/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated wrappers begin and end with, and all that they call. */
#ifndef SKELGEN_WRAP_H
#define SKELGEN_WRAP_H

#include "definitions/communicator.h"
#include "definitions/count_vectors.h"
#include "definitions/datatype.h"
#include "definitions/matched_message.h"
#include "definitions/pending_comm.h"
#include "definitions/request.h"
#include "definitions/windows_and_files.h"
#include "event/event.h"
#include "intern/handle_users.h"
#include "lifecycle/session.h"
#include "lifecycle/start.h"
#include "lifecycle/thread.h"

/* Where the frame of the function ends that this stands in, towards its caller. */
#define SKELGEN_FRAME ((uintptr_t)__builtin_dwarf_cfa())

/*
 * While a wrapper runs there is no current stream, so the MPI calls that the library makes
 * itself (Fortran over C, I/O over messages) are passed on unseen. `function` is 0 for those
 * that phases do not count, such as completions.
 */
SKELGEN_INLINE struct skelgen_stream *skelgen_begin(uint32_t function)
{
	struct skelgen_stream *s = skelgen_current;

	if (unlikely(!s))
		return skelgen_begin_slow(function, SKELGEN_FRAME);
	skelgen_current = NULL;
	s->frame = SKELGEN_FRAME;
	return s;
}

/* The handle that a pointer leads to; a wrong program may pass NULL. */
#define skelgen_handle_at(pointer) ((pointer) ? (uint64_t)(uintptr_t)*(pointer) : 0)

#define SKELGEN_SITE ((uint64_t)(uintptr_t)__builtin_return_address(0))

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
