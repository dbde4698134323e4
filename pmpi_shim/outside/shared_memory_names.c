/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keep the names of an MPI's shared memory. MPICH takes them away as soon as all ranks have it, and
 * without root nobody can save memory of a file that has no name left. Where images are made so,
 * SKELGEN_KEEP_SHARED_MEMORY is set; the names go with the namespaces of the application.
 */
#include "base/state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

SKELGEN_EXPORT int unlink(const char *path)
{
	size_t length = strlen(SHARED_MEMORY);

	if (strncmp(path, SHARED_MEMORY, length) == 0 && is_kept(path + length))
		return 0;
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

SKELGEN_EXPORT int shm_unlink(const char *name)
{
	const char *file = name + strspn(name, "/");
	int folder;
	int result;

	if (is_kept(file))
		return 0;
	folder = open(SHARED_MEMORY, O_PATH | O_DIRECTORY | O_CLOEXEC);
	result = (int)syscall(SYS_unlinkat, folder, file, 0);
	if (folder >= 0)
		close(folder);
	return result;
}
