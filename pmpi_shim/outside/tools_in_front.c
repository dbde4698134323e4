/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tools in front of the recorder: objects whose MPI functions the program finds before ours. One
 * that calls the next MPI_ function (EZTrace does) hides nothing. One that calls PMPI_ itself hides
 * its calls from us: it is known by this, that not one of its functions ever called ours.
 */
#include "outside/tools_in_front.h"

#include "base/mpi_library.h"
#include "intern/interned.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

/* Where an object is loaded. */
struct range {
	uintptr_t inside; /* an address in it */
	uintptr_t begin;
	uintptr_t end;
};

static int find_range(struct dl_phdr_info *info, size_t bytes, void *found)
{
	struct range *range = found;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (range->inside - begin < info->dlpi_phdr[i].p_memsz)
			range->begin = 1;
	}
	if (!range->begin)
		return 0;
	range->begin = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		range->begin = begin < range->begin ? begin : range->begin;
		range->end = end > range->end ? end : range->end;
	}
	return 1;
}

static struct range range_of(const void *address)
{
	struct range range = {.inside = (uintptr_t)address};

	if (!address || !dl_iterate_phdr(find_range, &range))
		return (struct range){0};
	return range;
}

static bool within(struct range range, const void *address)
{
	return (uintptr_t)address >= range.begin && (uintptr_t)address < range.end;
}

/* Where recorder and library are: functions of neither are in front. */
struct behind {
	struct range own;
	struct range library;
};

static struct behind behind(void)
{
	return (struct behind){range_of(&skelgen), range_of(skelgen_symbol("PMPI_Init"))};
}

/* What the program finds before ours under the name of a function; NULL: nothing. */
static const void *in_front(const struct behind *behind, const char *function)
{
	const void *first = dlsym(RTLD_DEFAULT, function);

	if (!first || within(behind->own, first) || within(behind->library, first))
		return NULL;
	return first;
}

static bool was_called(uint32_t id, size_t index)
{
	if (skelgen_passed[index])
		return true;
	for (struct skelgen_stream *s = skelgen.streams; s; s = s->next)
		if (skelgen_known(s, SKELGEN_REC_FUNCTION, id))
			return true;
	return false;
}

static struct skelgen_front *front_at(struct skelgen_front fronts[], size_t *n, const void *address)
{
	struct skelgen_front *front;
	const char *name;
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return NULL;
	for (size_t i = 0; i < *n; i++)
		if (fronts[i].base == info.dli_fbase)
			return &fronts[i];
	if (*n == SKELGEN_MOST_FRONTS)
		return NULL;
	front = &fronts[(*n)++];
	memset(front, 0, sizeof(*front));
	front->base = info.dli_fbase;
	name = strrchr(info.dli_fname, '/');
	snprintf(front->name, sizeof(front->name), "%s", name ? name + 1 : info.dli_fname);
	return front;
}

static void add_function(struct skelgen_front *front, const char *name)
{
	size_t used = strlen(front->functions_text);

	if (front->functions++ < 4)
		snprintf(front->functions_text + used, sizeof(front->functions_text) - used, "%s%s",
			 used ? ", " : "", name);
}

/* Find the tools in front and which of them hide calls; returns how many there are. */
size_t skelgen_fronts_find(struct skelgen_front fronts[SKELGEN_MOST_FRONTS])
{
	struct behind known = behind();
	size_t n = 0;

	for (size_t i = 0; i < skelgen_function_count; i++) {
		const void *first = in_front(&known, skelgen_functions[i].name);
		struct skelgen_front *front = first ? front_at(fronts, &n, first) : NULL;

		if (!front)
			continue;
		add_function(front, skelgen_functions[i].name);
		if (was_called(skelgen_functions[i].id, i))
			front->seen = true;
	}
	return n;
}

/* The file name of the object in front of ours that has a function of MPI; NULL: none. */
const char *skelgen_front_of(const char *function)
{
	static struct skelgen_front front[SKELGEN_MOST_FRONTS];
	struct behind known = behind();
	const void *first = in_front(&known, function);
	size_t n = 0;

	return first && front_at(front, &n, first) ? front[0].name : NULL;
}
