/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites: where a call returns to and, when asked for, what called that. */
#include "intern/call_site.h"

#include "base/map.h"
#include "base/report.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAS_BACKTRACE 1
#else
#define HAS_BACKTRACE 0
#define backtrace(frames, n) 0
#endif

/* Frames of the recorder itself on top of the program's. */
#define OWN_FRAMES 6

/* Longest build id that is written down [bytes]: linkers make 8 to 32. */
#define MOST_BUILD_ID 64

/* The executable or shared library in which an address lies. */
struct module {
	uint64_t address;
	uint64_t base; /* what the loader added to the file's own addresses */
	const char *path;
	uint8_t build[MOST_BUILD_ID];
	size_t build_bytes; /* 0: it has none */
};

/* Find the build id among the notes of a segment, which may end anywhere. */
static void find_build(struct module *module, const uint8_t *notes, uint64_t bytes)
{
	ElfW(Nhdr) note;

	while (bytes >= sizeof(note)) {
		uint64_t name;
		uint64_t whole;

		memcpy(&note, notes, sizeof(note));
		name = sizeof(note) + (((uint64_t)note.n_namesz + 3) & ~(uint64_t)3);
		whole = name + (((uint64_t)note.n_descsz + 3) & ~(uint64_t)3);
		if (whole > bytes)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + sizeof(note), "GNU", 4) == 0 && note.n_descsz <= MOST_BUILD_ID) {
			memcpy(module->build, notes + name, note.n_descsz);
			module->build_bytes = note.n_descsz;
			return;
		}
		notes += whole;
		bytes -= whole;
	}
}

/* Look at a segment of notes only where a segment that is loaded holds all of it. */
static void look_at_notes(struct module *module, const struct dl_phdr_info *info,
			  const ElfW(Phdr) * notes)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) &&
		    notes->p_vaddr >= segment->p_vaddr &&
		    notes->p_vaddr - segment->p_vaddr <= segment->p_filesz &&
		    notes->p_filesz <= segment->p_filesz - (notes->p_vaddr - segment->p_vaddr)) {
			find_build(module, (const uint8_t *)(info->dlpi_addr + notes->p_vaddr),
				   notes->p_filesz);
			return;
		}
	}
}

static int contains(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct module *module = data;

	(void)bytes;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD ||
		    module->address - info->dlpi_addr - segment->p_vaddr >= segment->p_memsz)
			continue;
		module->base = info->dlpi_addr;
		module->path = info->dlpi_name ? info->dlpi_name : "";
		for (size_t j = 0; j < info->dlpi_phnum && !module->build_bytes; j++)
			if (info->dlpi_phdr[j].p_type == PT_NOTE)
				look_at_notes(module, info, &info->dlpi_phdr[j]);
		return 1;
	}
	return 0;
}

static uint32_t module_id(struct skelgen_stream *s, const struct module *module)
{
	uint64_t *known = skelgen_map_find(&s->interned.modules, module->base + 1);
	char resolved[PATH_MAX];
	const char *path = module->path[0] ? module->path : skelgen.program;
	uint8_t payload[PATH_MAX + MOST_BUILD_ID + 32];
	uint8_t *p = payload;
	uint32_t id = s->interned.next_module;

	if (known)
		return (uint32_t)*known;
	/* What /proc/self/exe is only this process knows. */
	if ((path[0] != '/' || strcmp(path, "/proc/self/exe") == 0) && realpath(path, resolved))
		path = resolved;
	p = skelgen_put_varint(p, id);
	p = skelgen_put_string(p, path, strnlen(path, PATH_MAX));
	p = skelgen_put_string(p, (const char *)module->build, module->build_bytes);
	skelgen_define(s, SKELGEN_REC_MODULE, payload, (size_t)(p - payload));
	skelgen_map_set(&s->interned.modules, module->base + 1, id);
	s->interned.next_module++;
	return id;
}

/*
 * Write down a call site: its own address and those of its callers, innermost first, as far as
 * they lie in modules. Return its id, 0 when there is nothing to write. Not by dladdr(), which
 * searches all symbols of a library.
 */
static uint32_t define_site(struct skelgen_stream *s, uint64_t key, void *const frames[], size_t n)
{
	uint8_t payload[20 * SKELGEN_MOST_FRAMES + 32];
	uint8_t callers[20 * SKELGEN_MOST_FRAMES];
	uint8_t *p = payload;
	uint8_t *q = callers;
	uint32_t id = s->interned.next_site;
	size_t found = 0;

	while (found < n) {
		struct module module = {.address = (uint64_t)(uintptr_t)frames[found]};

		if (!dl_iterate_phdr(contains, &module))
			break;
		q = skelgen_put_varint(q, module_id(s, &module));
		q = skelgen_put_varint(q, module.address - module.base);
		if (!found++) {
			p = skelgen_put_varint(p, id);
			memcpy(p, callers, (size_t)(q - callers));
			p += q - callers;
			q = callers;
		}
	}
	if (!found)
		return 0;
	if (found > 1) {
		p = skelgen_put_varint(p, found - 1);
		memcpy(p, callers, (size_t)(q - callers));
		p += q - callers;
	}
	skelgen_define(s, SKELGEN_REC_SITE, payload, (size_t)(p - payload));
	skelgen_map_set(&s->interned.sites, key, id);
	s->interned.next_site++;
	return id;
}

/* The id of a call site: an address, or what skelgen_site_deepen() made of it. */
uint32_t skelgen_site_id(struct skelgen_stream *s, uint64_t site)
{
	uint64_t *known = site ? skelgen_map_find(&s->interned.sites, site) : NULL;
	void *frame = (void *)(uintptr_t)site;

	if (known)
		return (uint32_t)*known;
	return site ? define_site(s, site, &frame, 1) : 0;
}

/* Before the first call: unwinding loads a library when it is first used. */
void skelgen_site_prepare(void)
{
	void *frame;

	if (skelgen.callstack > 1 && !HAS_BACKTRACE) {
		skelgen_say("SKELGEN_CALLSTACK needs backtrace(), which this system lacks");
		skelgen.callstack = 1;
	}
	if (skelgen.callstack > 1)
		(void)!backtrace(&frame, 1);
}

/*
 * A number that stands for the call site together with its callers. It takes about a
 * microsecond: the stack is unwound.
 */
uint64_t skelgen_site_deepen(struct skelgen_stream *s, uint64_t site)
{
	void *frames[SKELGEN_MOST_FRAMES + OWN_FRAMES];
	int total = backtrace(frames, (int)skelgen.callstack + OWN_FRAMES);
	int first = 0;
	size_t n;
	uint64_t key = skelgen_mix(4, site);

	while (first < total && (uint64_t)(uintptr_t)frames[first] != site)
		first++;
	if (first + 1 >= total)
		return site;
	n = (size_t)(total - first);
	if (n > skelgen.callstack)
		n = skelgen.callstack;
	for (size_t i = 1; i < n; i++)
		key = skelgen_mix(key, (uint64_t)(uintptr_t)frames[first + (int)i]);
	if (!skelgen_map_find(&s->interned.sites, key))
		define_site(s, key, frames + first, n);
	return key;
}
