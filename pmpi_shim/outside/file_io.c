/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long threads that call MPI read and write files outside MPI. A call is passed on as it is;
 * its time counts when it was on a regular file or a block device, so that no wait for a pipe, a
 * socket or a terminal does. Functions of the C library that move single characters, that open or
 * close descriptors, and files in memory (mmap) are not looked at.
 */
#undef _FORTIFY_SOURCE
#include "outside/file_io.h"

#include "base/clock.h"
#include "outside/function_behind.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* A shorter call of stdio only moved characters in memory [ns]. */
#define BUFFERED_NS 1000

static struct skelgen_file_io sum;

/* The clock, or 0 where the call is not to be counted. */
static uint64_t begin(void)
{
	return skelgen_current && !skelgen.paused ? skelgen_ticks() : 0;
}

static void end(uint64_t since, int descriptor, int64_t bytes)
{
	uint64_t ticks = skelgen_ticks() - since;
	int error = errno;
	struct stat status;

	if (!fstat(descriptor, &status) && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode))) {
		__atomic_fetch_add(&sum.ticks, ticks, __ATOMIC_RELAXED);
		if (bytes > 0)
			__atomic_fetch_add(&sum.bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
	}
	errno = error;
}

static void end_stdio(uint64_t since, FILE *file, int64_t bytes)
{
	int error = errno;
	double ticks = (double)(skelgen_ticks() - since);

	if (file && ticks * 1e9 > BUFFERED_NS * (double)skelgen.ticks_per_s)
		end(since, fileno(file), bytes);
	errno = error;
}

/* What was counted since this was asked for the last time. */
struct skelgen_file_io skelgen_file_io_take(void)
{
	return (struct skelgen_file_io){
		.ticks = __atomic_exchange_n(&sum.ticks, 0, __ATOMIC_RELAXED),
		.bytes = __atomic_exchange_n(&sum.bytes, 0, __ATOMIC_RELAXED),
	};
}

/* Call a function on a descriptor; without the one behind ours the system does it. */
#define DESCRIPTOR(type, name, number, parameters, moved, ...)                          \
	SKELGEN_EXPORT type name parameters                                             \
	{                                                                               \
		static void *known;                                                     \
		type(*real) parameters;                                                 \
		uint64_t since = begin();                                               \
		type result;                                                            \
                                                                                        \
		*(void **)&real = skelgen_behind(&known, #name);                        \
		result = real ? real(__VA_ARGS__) : (type)syscall(number, __VA_ARGS__); \
		if (unlikely(since))                                                    \
			end(since, descriptor, moved);                                  \
		return result;                                                          \
	}

/* clang-format off */
DESCRIPTOR(ssize_t, read, SYS_read, (int descriptor, void *data, size_t n), result, descriptor, data, n)
DESCRIPTOR(ssize_t, write, SYS_write, (int descriptor, const void *data, size_t n), result, descriptor, data, n)
DESCRIPTOR(ssize_t, pread, SYS_pread64, (int descriptor, void *data, size_t n, off_t at), result, descriptor, data, n, at)
DESCRIPTOR(ssize_t, pwrite, SYS_pwrite64, (int descriptor, const void *data, size_t n, off_t at), result, descriptor, data, n, at)
DESCRIPTOR(ssize_t, readv, SYS_readv, (int descriptor, const struct iovec *data, int n), result, descriptor, data, n)
DESCRIPTOR(ssize_t, writev, SYS_writev, (int descriptor, const struct iovec *data, int n), result, descriptor, data, n)
DESCRIPTOR(int, fsync, SYS_fsync, (int descriptor), 0, descriptor)
DESCRIPTOR(int, fdatasync, SYS_fdatasync, (int descriptor), 0, descriptor)

#define STDIO(type, name, parameters, otherwise, moved, ...)  \
	SKELGEN_EXPORT type name parameters                   \
	{                                                     \
		static void *known;                           \
		type(*real) parameters;                       \
		uint64_t since = begin();                     \
		type result;                                  \
                                                              \
		*(void **)&real = skelgen_behind(&known, #name);      \
		if (unlikely(!real)) {                        \
			errno = ENOSYS;                       \
			return otherwise;                     \
		}                                             \
		result = real(__VA_ARGS__);                   \
		if (unlikely(since))                  \
			end_stdio(since, file, moved);        \
		return result;                                \
	}

STDIO(size_t, fread, (void *restrict data, size_t size, size_t n, FILE *restrict file), 0, (int64_t)(size * result), data, size, n, file)
STDIO(size_t, fwrite, (const void *restrict data, size_t size, size_t n, FILE *restrict file), 0, (int64_t)(size * result), data, size, n, file)
STDIO(char *, fgets, (char *restrict text, int n, FILE *restrict file), NULL, 0, text, n, file)
STDIO(int, fputs, (const char *restrict text, FILE *restrict file), EOF, 0, text, file)
STDIO(ssize_t, getline, (char **restrict text, size_t *restrict room, FILE *restrict file), -1, result, text, room, file)
STDIO(int, fflush, (FILE *file), EOF, 0, file)
STDIO(int, vfprintf, (FILE *restrict file, const char *restrict format, va_list list), -1, result, file, format, list)

#ifdef __GLIBC__
DESCRIPTOR(ssize_t, pread64, SYS_pread64, (int descriptor, void *data, size_t n, off64_t at), result, descriptor, data, n, at)
DESCRIPTOR(ssize_t, pwrite64, SYS_pwrite64, (int descriptor, const void *data, size_t n, off64_t at), result, descriptor, data, n, at)
/* As programs call them that were compiled with checks of their buffers. */
#define CHECKED(type, name, number, parameters, moved, words, ...)          \
	SKELGEN_EXPORT type name parameters;                                \
	SKELGEN_EXPORT type name parameters                                 \
	{                                                                   \
		static void *known;                                         \
		type(*real) parameters;                                     \
		uint64_t since = begin();                                   \
		type result;                                                \
                                                                            \
		*(void **)&real = skelgen_behind(&known, #name);                    \
		result = real ? real(__VA_ARGS__) : (type)syscall words;    \
		if (unlikely(since))                                        \
			end(since, descriptor, moved);                      \
		return result;                                              \
	}
CHECKED(ssize_t, __read_chk, SYS_read, (int descriptor, void *data, size_t n, size_t room), result, (SYS_read, descriptor, data, n), descriptor, data, n, room)
CHECKED(ssize_t, __pread_chk, SYS_pread64, (int descriptor, void *data, size_t n, off_t at, size_t room), result, (SYS_pread64, descriptor, data, n, at), descriptor, data, n, at, room)
CHECKED(ssize_t, __pread64_chk, SYS_pread64, (int descriptor, void *data, size_t n, off64_t at, size_t room), result, (SYS_pread64, descriptor, data, n, at), descriptor, data, n, at, room)
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *);
int __vfprintf_chk(FILE *, int, const char *, va_list);
int __fprintf_chk(FILE *, int, const char *, ...);
STDIO(size_t, __fread_chk, (void *data, size_t room, size_t size, size_t n, FILE *file), 0, (int64_t)(size * result), data, room, size, n, file)
STDIO(char *, __fgets_chk, (char *text, size_t room, int n, FILE *file), NULL, 0, text, room, n, file)
STDIO(int, __vfprintf_chk, (FILE *file, int flag, const char *format, va_list list), -1, result, file, flag, format, list)
#endif
/* clang-format on */

/* What follows hands its list of arguments to the function for lists. */
SKELGEN_EXPORT int fprintf(FILE *restrict file, const char *restrict format, ...)
{
	va_list list;
	int result;

	va_start(list, format);
	result = vfprintf(file, format, list);
	va_end(list);
	return result;
}

#ifdef __GLIBC__
SKELGEN_EXPORT int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
	va_list list;
	int result;

	va_start(list, format);
	result = __vfprintf_chk(file, flag, format, list);
	va_end(list);
	return result;
}
#endif

/* The file is gone afterwards: what it is must be asked before. */
SKELGEN_EXPORT int fclose(FILE *file)
{
	static void *known;
	int (*real)(FILE *);
	uint64_t since = begin();
	struct stat status;
	bool counts = since && file && !fstat(fileno(file), &status) && S_ISREG(status.st_mode);
	int result;

	*(void **)&real = skelgen_behind(&known, "fclose");
	if (unlikely(!real)) {
		errno = ENOSYS;
		return EOF;
	}
	result = real(file);
	if (counts)
		__atomic_fetch_add(&sum.ticks, skelgen_ticks() - since, __ATOMIC_RELAXED);
	return result;
}
