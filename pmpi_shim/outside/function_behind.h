/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The function of the C library, or of another tool, that one of ours stands in front of.
 */
#ifndef SKELGEN_OUTSIDE_FUNCTION_BEHIND_H
#define SKELGEN_OUTSIDE_FUNCTION_BEHIND_H

#include "base/state.h"

#include <dlfcn.h>

/*
 * The one of that version, or with NULL of any. Looked up once; NULL while dlsym looks, which may
 * call us by an allocator of the program's own.
 */
static inline void *skelgen_version_behind(void **known, const char *name, const char *version)
{
	static __thread bool looking __attribute__((tls_model("initial-exec")));
	void *found = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (likely(found) || looking)
		return found;
	looking = true;
#ifdef __GLIBC__
	found = version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name);
#else
	(void)version;
	found = dlsym(RTLD_NEXT, name);
#endif
	looking = false;
	__atomic_store_n(known, found, __ATOMIC_RELAXED);
	return found;
}

static inline void *skelgen_behind(void **known, const char *name)
{
	return skelgen_version_behind(known, name, NULL);
}

#endif
