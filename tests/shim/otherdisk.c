/* Makes the recorder believe in a disk with other manners: DISK_IS says which. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

static int is(const char *what)
{
	const char *text = getenv("DISK_IS");

	return text && !strcmp(text, what);
}

/* NFS 3 cannot allocate. */
int fallocate(int file, int mode, off_t offset, off_t bytes)
{
	static int (*real)(int, int, off_t, off_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fallocate");
	if (!is("simple"))
		return real(file, mode, offset, bytes);
	errno = EOPNOTSUPP;
	return -1;
}

int statfs(const char *path, struct statfs *system)
{
	static int (*real)(const char *, struct statfs *);
	int code;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "statfs");
	code = real(path, system);
	if (is("network") && !strcmp(path, getenv("SKELGEN_DIR"))) /* Open MPI asks as well */
		system->f_type = 0x6969;
	return code;
}
