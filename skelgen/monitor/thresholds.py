"""Decide what a monitor takes for a rival, a gap or a rate: judgements of this stage.

A value without a measurement says so. What a monitor costs altogether is measured
(docs/monitor.md).
"""

from __future__ import annotations

#: Part of a core that looks at watched processes may take with the usual interval
#: [cores]. A judgement, not measured.
LOOKING_COST = 0.00015

#: A sample speaks for the time before it, but for no more than so many intervals [1]. A
#: judgement, not measured.
LONGEST_AVERAGED_SPAN = 3.0

#: Who uses less is no rival worth a look [cores]. A judgement, not measured.
LEAST_COMPETITOR = 0.002

#: Part of a core that spins may take [cores]: one every two minutes. A judgement, not
#: measured.
SPINNING_COST = 0.0003

#: Estimate and spin differ when they are further apart than this; a load has changed
#: when the estimate has moved by so much [1]. The goal of the estimate is 5 points
#: (docs/monitor.md).
LEAST_DIFFERENCE = 0.05

#: So far up it is looked for the launcher that started a process. A judgement, not
#: measured.
GENERATIONS_OF_LAUNCHER = 4

#: Shortest slots that are asked for [s]. A judgement, not measured.
SHORTEST_SLOT_S = 1.0

#: Shortest slots that nobody asked for [s]: clocks may differ by a quarter of one. A
#: judgement, not measured.
SHORTEST_USUAL_SLOT_S = 10.0

#: Fewest bytes of a probe that say something. A judgement, not measured; at 10 Mbit/s a
#: probe costs twice as many (docs/monitor.md).
LEAST_PROBE_BYTES = 300_000

#: Round trips of a probe, the first of which only warms up. A judgement, not measured.
PROBE_TRIPS = 11

#: So few are enough when they take too long. A judgement, not measured.
FEWEST_PROBE_TRIPS = 3

#: They take too long when all of them take longer than this [s]. A judgement, not
#: measured.
LONGEST_TRIPS_S = 0.5

#: A stream lasts so many round trips, so that it is no longer new. A judgement, not
#: measured.
STREAM_TRIPS = 10

#: And at least so long [s]: of quiet links of up to 1 Gbit/s all 25 probes were within
#: 10 % of the rate (docs/monitor.md).
SHORTEST_STREAM_S = 0.05

#: And at most [s]. A judgement, not measured.
LONGEST_STREAM_S = 2.0

#: What is counted for a byte of a stream with headers and acknowledgements [1]: a frame
#: of 1514 bytes has 1448 of them (1.05), the rest is a judgement.
STREAM_OVERHEAD = 1.1

#: Part of a core that finding watched programs may take with samples every 10 s
#: [cores]. A judgement, not measured.
SEARCHING_COST = 0.0002

#: A new process may still become the program: it is looked at so many times. A
#: judgement, not measured.
LOOKS_AT_NEW = 3

#: Looks at the run queue for each sample, where the kernel does not add it up. A
#: judgement, not measured.
LOOKS_AT_QUEUE = 5

#: Samples that are later than so many intervals leave a gap [1]. A judgement, not
#: measured.
LATE_INTERVALS = 2.0

#: A clock jumped when it moved by so much more or less than time did [s]. A judgement,
#: not measured.
LEAST_JUMP_S = 2.0

#: More than this must be explained by threads [cores]. A judgement, not measured.
LEAST_UNEXPLAINED = 0.03

#: With less work than this its stolen part says nothing [cores]. A judgement, not
#: measured.
LEAST_WORK = 0.05

#: A spin ends when it has had so much CPU time [s]. A judgement, not measured.
LONGEST_SPIN_CPU_S = 0.04

#: Or after so much wall time [s]. A judgement, not measured.
LONGEST_SPIN_S = 0.4

#: And when others have had so many turns: whole rounds are measured, of which few are
#: enough. A judgement, not measured.
SPIN_TURNS = 6

#: Interrupts take less; whoever gets a core has it for longer [s]. A judgement, not
#: measured.
SHORTEST_TURN_S = 0.0007

#: Longest turn of one who has what others want [s]. A judgement, not measured.
LONGEST_TURN_S = 0.004

#: Part of a core that looks at all threads may take, and as much those at new ones
#: [cores]. A judgement, not measured.
THREADS_COST = 0.00015

#: A thread that uses less is idle [cores]. A judgement, not measured.
LEAST_THREAD = 0.002

#: It is followed for so many samples more. A judgement, not measured.
SAMPLES_IDLE = 3

#: A bound thread that used so much of a busy core wanted more of it [1]. A judgement,
#: not measured.
LEAST_BOUND_SHARE = 0.25
