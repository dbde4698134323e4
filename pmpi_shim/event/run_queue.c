/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kept a thread from its core: others that had it (the run queue), or the thread's own
 * waiting, for a device or for anything else. The kernel says for how long a thread stood in the
 * run queue.
 */
#include "event/run_queue.h"

#include "encode/mapped_file.h"
#include "encode/varint.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* How often the thread gave its core up, or had to, and how many blocks it moved. */
struct skelgen_scheduling skelgen_thread_scheduling(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_THREAD, &used))
		return (struct skelgen_scheduling){0};
	return (struct skelgen_scheduling){
		.switches = (uint64_t)used.ru_nvcsw + (uint64_t)used.ru_nivcsw,
		.yields = (uint64_t)used.ru_nvcsw,
		.blocks = (uint64_t)used.ru_inblock + (uint64_t)used.ru_oublock,
	};
}

/* For how long the thread has stood in the run queue [ns]; false: the kernel does not say. */
static bool read_queue(int file, uint64_t *waited_ns)
{
	char text[96];
	ssize_t n = file < 0 ? -1 : pread(file, text, sizeof(text) - 1, 0);
	uint64_t ran_ns;
	uint64_t slices;

	if (n <= 0)
		return false;
	text[n] = 0;
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran_ns, waited_ns, &slices) == 3;
}

/* Total of the time in which a thread of this machine waited for a core [us]. */
static bool read_pressure(uint64_t *pressure_us)
{
	FILE *file = fopen("/proc/pressure/cpu", "re");
	bool known;

	if (!file)
		return false;
	known = fscanf(file, "some avg10=%*f avg60=%*f avg300=%*f total=%" SCNu64, pressure_us) ==
		1;
	fclose(file);
	return known;
}

/* Called by the stream's own thread: the file stays that of this thread. */
void skelgen_load_begin(struct skelgen_stream *s)
{
	struct skelgen_load *load = &s->load;

	if (!skelgen.sampling)
		return;
	load->file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	load->queue_known = read_queue(load->file, &load->sample_ns);
	load->begin_ns = load->sample_ns;
	load->pressure_known = !s->thread && read_pressure(&load->pressure_us);
}

/* The thread was switched: for how long it stood in the run queue since the sample before [us]. */
uint64_t skelgen_load_sample(struct skelgen_stream *s)
{
	struct skelgen_load *load = &s->load;
	uint64_t before_ns = load->sample_ns;

	if (!load->queue_known)
		return 0;
	/* The program may have closed all files that it did not open, and opened others. */
	load->queue_known =
		read_queue(load->file, &load->sample_ns) && load->sample_ns >= before_ns;
	return load->queue_known ? (load->sample_ns - before_ns) / 1000 : 0;
}

/* Write what of the time that the next event lost before it others took. */
void skelgen_load_put(struct skelgen_stream *s, uint64_t queued_us)
{
	uint8_t payload[10];
	uint8_t *p = skelgen_put_varint(payload, queued_us);

	if (s->load.queue_known)
		skelgen_define(s, SKELGEN_REC_QUEUED, payload, (size_t)(p - payload));
}

/* Find the cores that the thread may use, a bit for each; returns the bytes with such bits. */
static size_t usable_cores(cpu_set_t *cores)
{
	size_t bytes = sizeof(*cores);

	if (sched_getaffinity(0, sizeof(*cores), cores))
		return 0;
	while (bytes && !((const uint8_t *)cores)[bytes - 1])
		bytes--;
	return bytes;
}

/* Write what was found, and let go of the file. */
void skelgen_load_end(struct skelgen_stream *s)
{
	struct skelgen_load *load = &s->load;
	uint8_t payload[60 + sizeof(cpu_set_t)];
	uint8_t *p = payload;
	uint64_t pressure_us = 0;
	cpu_set_t cores;
	size_t bytes = s->thread ? 0 : usable_cores(&cores);

	load->pressure_known = load->pressure_known && read_pressure(&pressure_us) &&
			       pressure_us >= load->pressure_us;
	skelgen_load_sample(s);
	p = skelgen_put_varint(p, (load->queue_known ? SKELGEN_LOAD_QUEUE : 0u) |
					  (load->pressure_known ? SKELGEN_LOAD_PRESSURE : 0u) |
					  (bytes ? SKELGEN_LOAD_CORES : 0u));
	if (load->queue_known) {
		p = skelgen_put_varint(p, load->queued_us);
		p = skelgen_put_varint(p, load->device_us);
		p = skelgen_put_varint(p, (load->sample_ns - load->begin_ns) / 1000);
	}
	if (load->pressure_known)
		p = skelgen_put_varint(p, pressure_us - load->pressure_us);
	if (bytes)
		p = skelgen_put_string(p, (const char *)&cores, bytes);
	if (load->queue_known || load->pressure_known || bytes)
		skelgen_define(s, SKELGEN_REC_LOAD, payload, (size_t)(p - payload));
}

void skelgen_load_close(struct skelgen_stream *s)
{
	if (s->load.file >= 0)
		close(s->load.file);
	s->load.file = -1;
}
