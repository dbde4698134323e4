/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of CPU time: for how long a thread was without its core. */
#include "event/cpu_sample.h"

#include "base/clock.h"
#include "event/run_queue.h"
#include "event/touched_memory.h"

/*
 * Sample the CPU time: how long the thread did not run since the previous sample, as far as
 * that is more than the clocks' own noise. A thread that kept its core lost nothing, and is
 * not sampled: to be asked makes Linux look whether the thread's slice is over, at once and
 * not at its next tick. Beside a competitor that cost programs up to 27 % of their time.
 */
SKELGEN_COLD void skelgen_sample(struct skelgen_stream *s)
{
	struct skelgen_scheduling now = skelgen_thread_scheduling();
	uint64_t cpu_ns;
	uint64_t ticks;
	double elapsed_ns;
	double lost_ns;

	s->lost_us = 0;
	if (now.switches == s->sample_switches)
		return;
	s->sample_switches = now.switches;
	s->load.moved = now.blocks != s->load.blocks;
	s->load.blocks = now.blocks;
	s->load.yielded = now.yields != s->load.yields;
	s->load.yields = now.yields;
	s->load.waited_us = skelgen_load_sample(s);
	cpu_ns = skelgen_thread_cpu_ns();
	ticks = skelgen_ticks();
	elapsed_ns = (double)(ticks - s->sample_ticks) * 1e9 / (double)skelgen.ticks_per_s;
	lost_ns = elapsed_ns - (double)(cpu_ns - s->sample_cpu_ns);
	if (lost_ns * 64 > elapsed_ns)
		s->lost_us = (uint64_t)(lost_ns / 1000);
	s->sample_cpu_ns = cpu_ns;
	s->sample_ticks = ticks;
}

/*
 * What was lost in a gap: to others in the run queue, or to the thread's own waiting. A thread
 * that never yielded did not wait: others had all of it, if not of this machine, then of its host.
 */
static void share_out(struct skelgen_stream *s)
{
	struct skelgen_load *load = &s->load;
	uint64_t queued_us = load->waited_us < s->lost_us ? load->waited_us : s->lost_us;

	if (!load->yielded)
		queued_us = s->lost_us;
	load->gap_us = queued_us;
	load->queued_us += queued_us;
	if (load->moved)
		load->device_us += s->lost_us - queued_us;
}

/*
 * The gap before this call was long. What the sample costs belongs to the call's duration. Some of
 * what was lost may have been lost in short calls since the sample before, never more than the
 * gap's length in it.
 */
SKELGEN_COLD uint64_t skelgen_sample_begin(struct skelgen_stream *s, uint64_t begin)
{
	uint64_t gap = begin - s->last_end;
	uint64_t gap_us;

	if (gap > SKELGEN_LONGEST)
		s->special |= SKELGEN_SPECIAL_LONG;
	if (skelgen.paused || !skelgen.sampling)
		return begin;
	skelgen_sample(s);
	gap_us = skelgen_us_of(gap);
	if (s->lost_us > gap_us)
		s->lost_us = gap_us;
	if (s->lost_us) {
		s->special |= SKELGEN_SPECIAL_LOST;
		share_out(s);
	}
	return skelgen_touched_count(s, begin);
}
