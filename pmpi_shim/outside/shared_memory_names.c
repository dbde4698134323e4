/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keep the names of an MPI's shared memory. MPICH takes them away as soon as all ranks have it, and
 * without root nobody can save memory of a file that has no name left. Where images are made so,
 * SKELGEN_KEEP_SHARED_MEMORY is set; the names go with the namespaces of the application.
 */
#include "outside/function_behind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm/"

/* Whether a name is one that MPICH or its network library gives. */
static bool is_kept(const char *name)
{
	static const char *const begins[] = {"mpich", "ucx_shm_posix"};

	if (!getenv("SKELGEN_KEEP_SHARED_MEMORY"))
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/*
 * MPICH calls it without a path for a window whose ranks share no memory, which is an error, no
 * crash. The C library's header promises that there is one: a compiler that looked at the parameter
 * itself would leave the check out.
 */
SKELGEN_EXPORT int unlink(const char *path)
{
	static void *known;
	int (*real)(const char *);
	const char *volatile given = path;
	const char *name = given;
	size_t length = strlen(SHARED_MEMORY);

	if (name && strncmp(name, SHARED_MEMORY, length) == 0 && is_kept(name + length))
		return 0;
	*(void **)&real = skelgen_behind(&known, "unlink");
	return real ? real(path) : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

SKELGEN_EXPORT int shm_unlink(const char *name)
{
	static void *known;
	int (*real)(const char *);

	if (name && is_kept(name + strspn(name, "/")))
		return 0;
	*(void **)&real = skelgen_behind(&known, "shm_unlink");
	if (real)
		return real(name);
	errno = ENOSYS;
	return -1;
}
