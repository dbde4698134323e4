/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a stream: a window of it is mapped and moves forward. Space is allocated before
 * it is mapped, because a full disk would otherwise end the program with SIGBUS (cut_file.c).
 */
#include "encode/mapped_file.h"

#include "base/clock.h"
#include "base/report.h"
#include "encode/checksum.h"
#include "encode/cut_file.h"
#include "encode/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Windows grow: a thread that makes a few calls and ends must not pay for room that it never needs.
 * Cutting a file is dear where that frees blocks.
 */
#define FIRST_WINDOW ((size_t)1 << 18)
#define WINDOW_BYTES ((size_t)1 << 20)
#define WINDOW_GROWTH 4
#define SMALLEST_WINDOW ((size_t)1 << 16)
#define BLOCK ((uint64_t)4096)

static uint64_t position(const struct skelgen_stream *s)
{
	return s->window_offset + (uint64_t)(s->write - s->window);
}

/* Whether a file may be so long; a write beyond would end the program with SIGXFSZ. */
bool skelgen_size_allowed(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       bytes <= limit.rlim_cur;
}

/* Allocate file space, also where the file system cannot do it in one call. */
static int allocate(const struct skelgen_stream *s, uint64_t offset, size_t bytes)
{
	static const uint8_t zeros[BLOCK];

	if (!skelgen_size_allowed(offset + bytes))
		return EFBIG;
	if (fallocate(s->file, 0, (off_t)offset, (off_t)bytes) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR)
		return errno;
	/* Not from `offset` on: the first block of a window may hold records. */
	for (uint64_t at = s->file_bytes; at < offset + bytes; at += BLOCK) {
		errno = ENOSPC;
		if (pwrite(s->file, zeros, BLOCK, (off_t)at) != (ssize_t)BLOCK)
			return errno;
	}
	return 0;
}

/* Take note of a file's new length, of which so many bytes are counted already. */
static void set_length(struct skelgen_stream *s, uint64_t counted, uint64_t bytes)
{
	__atomic_fetch_add(&skelgen.used_bytes, bytes - counted, __ATOMIC_RELAXED);
	s->file_bytes = bytes;
}

/* Size of the next window, unless it needs more: a page for a further thread's first one. */
static size_t usual_window(const struct skelgen_stream *s, size_t page)
{
	if (!s->window)
		return s->thread ? page : FIRST_WINDOW;
	return s->window_bytes < WINDOW_BYTES / WINDOW_GROWTH ? WINDOW_GROWTH * s->window_bytes
							      : WINDOW_BYTES;
}

/*
 * Count the bytes of a window before they are allocated, beside those of the rank's other threads,
 * which may do the same now; return its size, or 0 where less than the least is left.
 */
static size_t reserve(const struct skelgen_stream *s, uint64_t offset, size_t least, size_t page)
{
	size_t usual = usual_window(s, page);
	uint64_t used = __atomic_load_n(&skelgen.used_bytes, __ATOMIC_RELAXED);
	uint64_t others;
	size_t size;

	do {
		uint64_t most = skelgen.max_bytes ? skelgen.max_bytes : UINT64_MAX;

		others = used - s->file_bytes;
		size = least > usual ? least : usual;
		most = most > others ? most - others : 0;
		if (offset + least > most)
			return 0;
		if (offset + size > most)
			size = (size_t)(most - offset) & ~(page - 1);
	} while (!__atomic_compare_exchange_n(&skelgen.used_bytes, &used, others + offset + size,
					      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return size;
}

/* Allocate a window, or a smaller one where that fails. */
static int allocate_window(const struct skelgen_stream *s, uint64_t offset, size_t least,
			   size_t *size)
{
	int error;

	while ((error = allocate(s, offset, *size)) != 0) {
		if (error == EINTR)
			continue;
		if (*size / 2 < least || *size / 2 < SMALLEST_WINDOW)
			return error;
		*size /= 2;
	}
	return 0;
}

/* What stands behind the file's number now, where that is still the file. */
static bool is_ours(const struct skelgen_stream *s, struct stat *facts)
{
	return fstat(s->file, facts) == 0 && facts->st_dev == s->device &&
	       facts->st_ino == s->inode;
}

/* Whether somebody cut the file, or closed it; to write on would end the program. */
static bool is_lost(struct skelgen_stream *s)
{
	struct stat facts;

	if (!is_ours(s, &facts) || (uint64_t)facts.st_size < s->file_bytes)
		s->lost = true;
	return s->lost;
}

/* Allocate and map the file from `offset` on; the size is smaller where that must be. */
static int map_window(struct skelgen_stream *s, uint64_t offset, size_t least, size_t *size,
		      uint8_t **window)
{
	uint64_t counted = offset + *size;
	int error = allocate_window(s, offset, least, size);

	if (!error) {
		*window = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, s->file,
			       (off_t)offset);
		error = *window == MAP_FAILED ? errno : 0;
	}
	set_length(s, counted, error ? s->file_bytes : offset + *size);
	return error;
}

/*
 * Map the file from the current position on, with room for `bytes` and the margin. What was in
 * the window before has its checksum at the begin of the new one.
 */
static int move_window(struct skelgen_stream *s, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t at = s->window ? position(s) : 0;
	uint64_t offset = at & ~(page - 1);
	size_t needed = (size_t)(at - offset) + SKELGEN_CHECK_BYTES + bytes + SKELGEN_MARGIN;
	size_t least = (needed + page - 1) & ~(page - 1);
	size_t size;
	uint8_t *before = s->window;
	size_t before_bytes = s->window_bytes;
	uint8_t *window;
	uint32_t crc = 0;
	int error;

	if (before) {
		skelgen_guard_open();
		if (!s->lost)
			crc = skelgen_check_window(s);
		if (s->lost || is_lost(s))
			return ESTALE;
	}
	size = reserve(s, offset, least, page);
	if (!size)
		return EOVERFLOW;
	error = map_window(s, offset, least, &size, &window);
	if (error)
		return error;
	skelgen_guard_window(s, window, size);
	s->window = window;
	s->window_bytes = size;
	s->window_offset = offset;
	s->write = window + (at - offset);
	s->limit = window + size - SKELGEN_MARGIN;
	if (before) {
		munmap(before, before_bytes);
		skelgen_check_put(s, crc, 0);
	}
	return 0;
}

/* Let go of the file. */
static void release(struct skelgen_stream *s)
{
	struct stat facts;

	skelgen_guard_window(s, NULL, 0);
	munmap(s->window, s->window_bytes);
	if (is_ours(s, &facts))
		close(s->file);
}

/*
 * Begin to write an open file that is empty; return 0 or the error. The file stays open in any
 * case.
 */
int skelgen_file_open(struct skelgen_stream *s)
{
	struct stat facts;
	int error = fstat(s->file, &facts) == 0 ? 0 : errno;

	s->device = facts.st_dev;
	s->inode = facts.st_ino;
	skelgen_guard_open();
	return error ? error : move_window(s, sizeof(struct skelgen_header));
}

/* Write the header and its checksum, its magic number last. */
void skelgen_file_begin(struct skelgen_stream *s, const struct skelgen_header *header)
{
	size_t magic = sizeof(header->magic);

	memcpy(s->window + magic, (const uint8_t *)header + magic, sizeof(*header) - magic);
	s->write = s->window + sizeof(*header);
	skelgen_check_put(s, skelgen_check_header(header), 0);
	while (magic-- > 0)
		skelgen_commit(s->window + magic, header->magic[magic]);
}

static void stop(struct skelgen_stream *s, int error)
{
	bool limit = error == EOVERFLOW;

	skelgen_file_end(s, limit ? SKELGEN_END_LIMIT : SKELGEN_END_FULL, error);
	if (limit)
		skelgen_say("the trace reached SKELGEN_MAX_BYTES; the program runs on unrecorded");
	else if (!s->lost)
		skelgen_say("cannot extend %s: %s; the program runs on unrecorded", s->path,
			    strerror(error));
}

/* Make room for `bytes` and the margin; false: the stream has stopped. */
bool skelgen_reserve(struct skelgen_stream *s, size_t bytes)
{
	int error;

	if (s->stopped)
		return false;
	if (s->write <= s->limit && bytes <= (size_t)(s->limit - s->write))
		return true;
	error = move_window(s, bytes);
	if (error)
		stop(s, error);
	return !error;
}

/* Append a definition record. */
void skelgen_define(struct skelgen_stream *s, enum skelgen_record_tag tag, const uint8_t *payload,
		    size_t bytes)
{
	uint8_t *record;
	uint8_t *p;

	if (!skelgen_reserve(s, bytes + 16))
		return;
	record = s->write;
	p = skelgen_put_varint(record + 1, bytes);
	memcpy(p, payload, bytes);
	s->write = p + bytes;
	skelgen_commit(record, (uint8_t)tag);
}

/* Write the END record into the margin, behind its checksum. */
static void write_end(struct skelgen_stream *s, enum skelgen_end reason, int code)
{
	uint8_t payload[96];
	uint8_t *p = payload;
	uint8_t *record = s->write + SKELGEN_CHECK_BYTES;
	uint32_t crc = skelgen_check_window(s);

	p = skelgen_put_varint(p, reason);
	p = skelgen_put_zigzag(p, code);
	p = skelgen_put_varint(p, skelgen_ticks());
	p = skelgen_put_varint(p, s->events);
	p = skelgen_put_varint(p, s->requests);
	p = skelgen_put_varint(p, s->persistent);
	p = skelgen_put_varint(p, skelgen.cost_ps);
	p = skelgen_put_varint(p, s->unrecorded);
	p = skelgen_put_varint(p, skelgen.inside_ps);
	p = skelgen_put_varint(p, skelgen.request_ps);
	record[1] = (uint8_t)(p - payload); /* below 128: a varint of one byte */
	memcpy(record + 2, payload, (size_t)(p - payload));
	record[0] = SKELGEN_REC_END; /* nobody reads it before the record in front of it */
	skelgen_check_put(s, crc, 2 + (size_t)(p - payload));
	s->write = record + 2 + (p - payload);
}

static void tell_lost(struct skelgen_stream *s)
{
	struct stat facts;

	if (is_ours(s, &facts) && !facts.st_nlink) {
		skelgen_say("%s was removed while the program ran; nothing of it is left", s->path);
		s->path[0] = 0;
	} else if (s->lost) {
		skelgen_say("%s was cut by another process, or its disk is full; the program runs "
			    "on unrecorded",
			    s->path);
	}
}

/* Write the END record, cut the file to its length and let go of it. */
void skelgen_file_end(struct skelgen_stream *s, enum skelgen_end reason, int code)
{
	if (s->stopped)
		return;
	skelgen_guard_open();
	if (!s->lost && !is_lost(s))
		write_end(s, reason, code);
	tell_lost(s);
	/* When this fails the file keeps zeros at its end, which readers accept. */
	if (!s->lost && ftruncate(s->file, (off_t)position(s)) == 0)
		set_length(s, s->file_bytes, position(s));
	release(s);
	s->stopped = true;
	s->special |= SKELGEN_SPECIAL_STOPPED;
	if (skelgen_current == s)
		skelgen_current = NULL;
}
