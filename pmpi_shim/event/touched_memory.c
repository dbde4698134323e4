/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory computation touches. A processor marks the pages that it uses. Now and then the
 * marks are taken away at the end of a call. They are counted where the next long gap ends, which
 * tells how fast computation goes through memory, or some time later, which tells how much of it
 * there is. Caches that others used in a wait are filled with so much again.
 */
#include "event/touched_memory.h"

#include "base/clock.h"
#include "encode/mapped_file.h"
#include "encode/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Looks cost at most this part of the time, and are further apart the longer a program runs. The
 * first of each kind may cost more: with hundreds of libraries a look takes 10 ms.
 */
#define COST_PARTS 200
#define FIRST_COST_PARTS 100
#define APART_PARTS 10
/* Which of so many long gaps is looked at is random: a fixed one is always the same of a loop. */
#define MOST_SKIPPED 63
/* A broad look takes so long. */
#define BROAD_US 20000
/* Where as much or more is unmapped, x86 forgets all translations: the kernel's limit is 33. */
#define MANY_PAGES 64
/* More than the longest line of /proc/self/smaps, which ends with a path. */
#define MAPPING_TEXT 8192

/*
 * A processor marks a page when it translates its address, and remembers translations of some MiB:
 * pages that it remembers would get no mark. The kernel takes marks away without this. The mapping
 * is the page of zeros, many times: it takes no memory.
 */
static void forget_translations(void)
{
	size_t bytes = MANY_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	void *memory =
		mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory != MAP_FAILED)
		munmap(memory, bytes);
}

/*
 * Files are opened each time: the program may have closed all that it did not open, and what has
 * their numbers now is its own. System calls by number: the recorder counts what read() and write()
 * of the program do.
 */
static bool take_marks_away(void)
{
	int error = errno;
	int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	bool done = file >= 0 && syscall(SYS_write, file, "1", 1) == 1;

	if (file >= 0)
		close(file);
	if (done)
		forget_translations();
	errno = error;
	return done;
}

/* Of the memory mapping that is being read. */
struct mapping {
	bool shared;
	uint64_t referenced; /* pages with marks [KiB] */
};

static uint64_t read_number(const char *line)
{
	return strtoull(strchr(line, ':') + 1, NULL, 10);
}

/*
 * The marked KiB of a mapping, when its last line of interest has come. A private page of a file is
 * one of a program or a library, and has the marks of all processes that use it.
 */
static uint64_t read_mapping_line(struct mapping *mapping, const char *line)
{
	uint64_t anonymous;

	if (line[0] < 'A' || line[0] > 'Z') { /* begin-end rwxp ... */
		const char *rights = strchr(line, ' ');

		mapping->shared = rights && strnlen(rights, 5) == 5 && rights[4] == 's';
	} else if (!strncmp(line, "Referenced:", 11)) {
		mapping->referenced = read_number(line);
	} else if (!strncmp(line, "Anonymous:", 10)) {
		anonymous = read_number(line);
		return mapping->shared || mapping->referenced < anonymous ? mapping->referenced
									  : anonymous;
	}
	return 0;
}

/* Take the whole lines of a text; return how many bytes are left of it, at its begin. */
static size_t read_lines(struct mapping *mapping, char *text, size_t n, uint64_t *kib)
{
	char *line = text;
	char *end;

	while ((end = memchr(line, '\n', (size_t)(text + n - line)))) {
		*end = 0;
		*kib += read_mapping_line(mapping, line);
		line = end + 1;
	}
	n -= (size_t)(line - text);
	memmove(text, line, n);
	return n;
}

/* Pages with marks, those of libraries left out [KiB]; false: the kernel does not say. */
static bool read_marks(uint64_t *kib)
{
	char text[MAPPING_TEXT];
	struct mapping mapping = {0};
	int error = errno;
	int file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	size_t left = 0;
	long n = -1;

	*kib = 0;
	while (file >= 0 && left < sizeof(text) &&
	       (n = syscall(SYS_read, file, text + left, sizeof(text) - left)) > 0)
		left = read_lines(&mapping, text, left + (size_t)n, kib);
	if (file >= 0)
		close(file);
	errno = error;
	return n == 0;
}

/*
 * Looking took the time since then, which is no computation; return the time now. What others had
 * of that time was not dear: on a crowded machine there would hardly be another look.
 */
static uint64_t spend(struct skelgen_stream *s, uint64_t since, uint64_t since_cpu_ns)
{
	uint64_t now = skelgen_now();

	s->touched.spent_ns += skelgen_thread_cpu_ns() - since_cpu_ns;
	s->overhead += now - since;
	s->special |= SKELGEN_SPECIAL_OVERHEAD;
	return now;
}

/* What looking marks by itself is found first, and taken off all counts. */
void skelgen_touched_begin(struct skelgen_stream *s)
{
	struct skelgen_touched *touched = &s->touched;
	uint64_t cpu_ns = skelgen_thread_cpu_ns();

	*touched = (struct skelgen_touched){.begin = skelgen_now(), .random = 1};
	touched->marked = touched->begin;
	if (s->thread || !skelgen.sampling)
		return;
	touched->known = take_marks_away() && read_marks(&touched->own_kib);
	spend(s, touched->begin, cpu_ns);
}

/* Whether marks are to be taken away behind the call that begins now. */
static bool is_time(struct skelgen_touched *touched, uint64_t now)
{
	uint64_t lived = now - touched->begin;
	uint64_t before = touched->marked - touched->begin;
	bool first = !touched->looks[touched->kind].count;
	uint64_t parts = first ? FIRST_COST_PARTS : COST_PARTS;

	touched->gaps++;
	if (touched->spent_ns * parts > skelgen_us_of(lived) * 1000 ||
	    before + before / APART_PARTS > lived)
		return false;
	if (touched->skipped) {
		touched->skipped--;
		return false;
	}
	return true;
}

/* A look is over: how many gaps are skipped before the next one. */
static void draw(struct skelgen_touched *touched)
{
	uint32_t most = touched->gaps < MOST_SKIPPED ? touched->gaps : MOST_SKIPPED;

	touched->random = touched->random * 1664525u + 1013904223u;
	touched->skipped = (touched->random >> 16) % (most + 1);
	touched->gaps = 0;
	touched->kind = (touched->kind + 1) % SKELGEN_LOOK_KINDS;
}

/* How long the rank had its core since then, as far as a sample before this call tells [us]. */
static uint64_t computed_us(const struct skelgen_stream *s, uint64_t since, uint64_t begin)
{
	uint64_t gap_us = skelgen_us_of(begin - since);

	return gap_us > s->lost_us ? gap_us - s->lost_us : 0;
}

/* The gap before this call was long: count its marks, or have them taken away behind the call. */
uint64_t skelgen_touched_count(struct skelgen_stream *s, uint64_t begin)
{
	struct skelgen_touched *touched = &s->touched;
	struct skelgen_looks *looks = &touched->looks[touched->kind];
	uint64_t since = touched->marked;
	uint64_t kib = 0;
	uint64_t cpu_ns;
	uint64_t us;

	if (!touched->known)
		return begin;
	if (!touched->marking) {
		touched->wanted = is_time(touched, begin);
		if (touched->wanted) /* its end is not the short way */
			s->special |= SKELGEN_SPECIAL_OVERHEAD;
		return begin;
	}
	if (touched->kind == SKELGEN_LOOK_NARROW && since < s->last_end)
		since = s->last_end;
	if (touched->kind == SKELGEN_LOOK_BROAD && skelgen_us_of(begin - since) < BROAD_US)
		return begin;
	us = computed_us(s, since, begin);
	if (us <= skelgen_us_of(skelgen.long_gap))
		return begin; /* taking marks away made it long, or others that had the core */
	touched->marking = false;
	cpu_ns = skelgen_thread_cpu_ns();
	touched->known = read_marks(&kib);
	if (touched->known) {
		looks->count++;
		looks->kib += kib > touched->own_kib ? kib - touched->own_kib : 0;
		looks->us += us;
	}
	draw(touched);
	return spend(s, begin, cpu_ns);
}

/* A call has ended: take the marks away if that is wanted. */
void skelgen_touched_mark(struct skelgen_stream *s)
{
	struct skelgen_touched *touched = &s->touched;
	uint64_t begin = skelgen_now();
	uint64_t cpu_ns = skelgen_thread_cpu_ns();

	touched->wanted = false;
	touched->known = touched->marking = take_marks_away();
	touched->marked = spend(s, begin, cpu_ns);
}

/* Write what was found, and what that took. */
void skelgen_touched_write(struct skelgen_stream *s)
{
	const struct skelgen_looks *looks = s->touched.looks;
	uint8_t payload[70];
	uint8_t *p = payload;

	if (!s->touched.known)
		return;
	p = skelgen_put_varint(p, s->touched.spent_ns / 1000);
	for (int i = 0; i < SKELGEN_LOOK_KINDS; i++) {
		p = skelgen_put_varint(p, looks[i].count);
		p = skelgen_put_varint(p, looks[i].kib);
		p = skelgen_put_varint(p, looks[i].us);
	}
	skelgen_define(s, SKELGEN_REC_TOUCHED, payload, (size_t)(p - payload));
}
