/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran: the library's functions and constants, arrays of handles. */
#include "wrappers/fortran.h"

#include "base/array.h"
#include "base/mpi_library.h"
#include "definitions/request.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

struct skelgen_sentinels skelgen_sentinels;

struct search {
	const char *name;
	void *found;
};

static int find_in(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct search *search = data;
	void *handle;

	(void)bytes;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "libmpi"))
		return 0;
	handle = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
	if (!handle)
		return 0;
	search->found = dlsym(handle, search->name);
	dlclose(handle);
	return search->found != NULL;
}

/* What a library calls so that was loaded for its user only (a module of Python). */
static void *anywhere(const char *name)
{
	struct search search = {.name = name};

	dl_iterate_phdr(find_in, &search);
	return search.found;
}

static void *variable(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	return found ? found : anywhere(name);
}

static const void *pointed_to(const char *name)
{
	void **found = variable(name);

	return found ? *found : NULL;
}

/* The address of a constant; what the library lacks shall equal no argument. */
static const void *sentinel(const void *found)
{
	return found ? found : &skelgen_sentinels;
}

static void find_sentinels(void)
{
	struct skelgen_sentinels *all = &skelgen_sentinels;
	void (*tell)(void);

	/* MPICH notes the addresses of mpif.h's constants when this Fortran function tells them. */
	*(void **)&tell = variable("mpirinitf_");
	if (tell) {
		tell();
		all->in_place[0] = sentinel(pointed_to("MPIR_F_MPI_IN_PLACE"));
		all->in_place[1] = sentinel(variable("MPIR_F08_MPI_IN_PLACE"));
		all->ignore[0] = sentinel(pointed_to("MPI_F_STATUS_IGNORE"));
		all->ignore[1] = sentinel(pointed_to("MPI_F_STATUSES_IGNORE"));
		all->ignore[2] = sentinel(pointed_to("MPI_F08_STATUS_IGNORE"));
		all->ignore[3] = sentinel(pointed_to("MPI_F08_STATUSES_IGNORE"));
	} else {
		all->in_place[0] = sentinel(variable("mpi_fortran_in_place_"));
		all->in_place[1] = sentinel(NULL);
		all->ignore[0] = sentinel(variable("mpi_fortran_status_ignore_"));
		all->ignore[1] = sentinel(variable("mpi_fortran_statuses_ignore_"));
		all->ignore[2] = all->ignore[3] = sentinel(NULL);
	}
}

/* Stands for a function that no library has, which then nobody can have called. */
static void nothing(void)
{
}

/* The library's own function, or that of a tool behind us. */
SKELGEN_COLD void *skelgen_fortran_look_up(void **address, const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	void *found = dlsym(RTLD_NEXT, name);

	pthread_once(&once, find_sentinels);
	if (!found)
		found = anywhere(name);
	if (!found)
		found = (void *)(uintptr_t)nothing;
	__atomic_store_n(address, found, __ATOMIC_RELEASE);
	return found;
}

void skelgen_hold_fortran(struct skelgen_stream *s, size_t n, const MPI_Fint requests[])
{
	if (!requests || !skelgen_room((void **)&s->held, &s->held_room, n, sizeof(*s->held)))
		return;
	for (size_t i = 0; i < n; i++)
		s->held[i] = skelgen_f2c(Request, &requests[i]);
}

void skelgen_gone_fortran(struct skelgen_stream *s, size_t n, const MPI_Fint requests[],
			  const MPI_Status statuses[], int code)
{
	MPI_Request *translated = malloc((n + 1) * sizeof(*translated));

	if (!translated)
		return;
	for (size_t i = 0; requests && i < n; i++)
		translated[i] = skelgen_f2c(Request, &requests[i]);
	(skelgen_gone)(s, requests ? n : 0, translated, statuses, code);
	free(translated);
}

/* Datatypes as C has them; NULL when memory is short. */
const MPI_Datatype *skelgen_types_f2c(struct skelgen_stream *s, const MPI_Fint types[], size_t n)
{
#ifdef MPI_Type_f2c
	(void)s;
	(void)n;
	return types;
#else
	MPI_Datatype *translated;

	_Static_assert(sizeof(*translated) <= sizeof(*s->held), "handles have one size");
	if (!skelgen_room((void **)&s->held, &s->held_room, n, sizeof(*s->held)))
		return NULL;
	translated = (MPI_Datatype *)(void *)s->held;
	for (size_t i = 0; i < n; i++)
		translated[i] = skelgen_f2c(Type, &types[i]);
	return translated;
#endif
}

/* A text as C has it: without the blanks at its end, which Fortran ignores. */
void skelgen_trimmed(char *text, size_t room, const char *padded, size_t length)
{
	while (length && padded[length - 1] == ' ')
		length--;
	if (length >= room)
		length = room - 1;
	memcpy(text, padded, length);
	text[length] = 0;
}
