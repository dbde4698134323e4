/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the MPI library. The shim is not linked with it, because LD_PRELOAD puts it
 * into mpirun, shells and interpreters as well; it looks the functions up when the first one is
 * called. The next definition in load order is taken, so that a tool behind us sees the call too.
 * A program may call MPI before it has loaded it, because it takes our functions for the library
 * (mpi4py does); then the library we were built for is loaded.
 */
#include "base/mpi_library.h"

#include <dlfcn.h>
#include <link.h>

struct skelgen_pmpi pmpi;
struct skelgen_constants mpi;
bool skelgen_resolved;

static void *library; /* loaded for its user only (mpi4py), so not in the global search order */

static int find_library(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	void *handle;

	(void)bytes;
	(void)unused;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "libmpi"))
		return 0;
	handle = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
	if (!handle)
		return 0;
	if (dlsym(handle, "PMPI_Init")) {
		library = handle;
		return 1;
	}
	dlclose(handle);
	return 0;
}

/* A function or object of the MPI library. */
void *skelgen_symbol(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	return found || !library ? found : dlsym(library, name);
}

static void *next_symbol(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	return found || !library ? found : dlsym(library, name);
}

/* Where the functions of the MPI library come from. */
const char *skelgen_library_path(void)
{
	Dl_info info;
	void *init = skelgen_symbol("PMPI_Init");

	return init && dladdr(init, &info) && info.dli_fname ? info.dli_fname : "";
}

/* Stands for a function that the library lacks: a shim for another library was loaded. */
static int missing(void)
{
	return MPI_ERR_OTHER;
}

static void resolve(void)
{
	if (!dlsym(RTLD_DEFAULT, "PMPI_Init") && !dl_iterate_phdr(find_library, NULL))
		library = dlopen(skelgen_library, RTLD_LAZY | RTLD_LOCAL);
	for (size_t i = 0; skelgen_real_names[i]; i++) {
		void *function = next_symbol(skelgen_real_names[i]);

		if (!function)
			function = (void *)(uintptr_t)missing;
		memcpy((char *)skelgen_real_table + i * sizeof(function), &function,
		       sizeof(function));
	}
#define LOOK_UP(name) *(void **)&pmpi.name = skelgen_symbol("PMPI_" #name);
	SKELGEN_PMPI(LOOK_UP)
	SKELGEN_PMPI_F2C(LOOK_UP)
	mpi.comm_null = MPI_COMM_NULL;
	mpi.comm_world = MPI_COMM_WORLD;
	mpi.comm_self = MPI_COMM_SELF;
	mpi.request_null = MPI_REQUEST_NULL;
	mpi.datatype_null = MPI_DATATYPE_NULL;
	__atomic_store_n(&skelgen_resolved, true, __ATOMIC_RELEASE);
}

void skelgen_resolve(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, resolve);
}
