"""Decide what a skeleton keeps, tells apart and warns of: all judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: Share of the application's time that the dominant sequence holds [1]. A
#: judgement, not measured.
DOMINANT_TIME_SHARE = 0.6

#: Relative deviation of what iterations keep whole that is left alone [1]. Half of what
#: LARGEST_CLASS_DEVIATION allows; a judgement, not measured.
LARGEST_UNCORRECTED_ROUNDING = 0.005

#: Classes of calls with more than this share of a rank's calls are held to their target
#: [1]. A judgement, not measured.
LEAST_CLASS_SHARE = 0.01

#: Largest relative deviation of those classes from their target [1]. A judgement, not
#: measured.
LARGEST_CLASS_DEVIATION = 0.01

#: Where the kept part of the calls is farther from 1/K, whole iterations stay and
#: computation is divided [1]. Half of what a skeleton's time may be off; a judgement,
#: not measured.
LARGEST_UNDIVIDED_DEVIATION = 0.05

#: Bytes of calls shrink with the computation where calls take at least this share of
#: the time [1]. A judgement, not measured.
LEAST_DIVIDED_CALL_SHARE = 0.005

#: Calls that never send so much keep their bytes [bytes]: they take as long with fewer.
#: A judgement, not measured.
LEAST_DIVIDED_BYTES = 1024

#: What a call takes at least, however few its bytes [ns]: where it took less, that. A
#: judgement, not measured.
LONGEST_LATENCY_NS = 10_000

#: A skeleton that is farther from 1/K of the time says so [1]. A judgement, not
#: measured.
LARGEST_UNSAID_DEVIATION = 0.1

#: A skeleton that is farther from the time that was asked for is not built [1]. A
#: judgement, not measured.
LARGEST_TARGET_DEVIATION = 0.15

#: For a target time, K is corrected so often by what it led to. It bounds the time of a
#: build; a judgement, not measured.
MOST_TIME_CORRECTIONS = 3

#: Fewer corrections than this share of a type's units stand together at the end [1]. A
#: judgement, not measured.
FEW_CORRECTIONS_SHARE = 0.1

#: Leaves with less of a rank's time keep one average [1]. A judgement, not measured.
LEAST_VARIED_LEAF_SHARE = 0.005

#: Ranks whose computations before a call differ by less of their time do not take turns
#: there [1]. As LEAST_VARIED_LEAF_SHARE; a judgement, not measured.
LEAST_TURN_SHARE = 0.005

#: A computation that would take more of a skeleton's time than this is divided by
#: itself [1]. A judgement, not measured.
LEAST_OWN_SHARE = 0.1

#: So do leaves whose standard deviation is below this share of their mean [1]. A
#: judgement, not measured.
LARGEST_STEADY_DEVIATION = 0.02

#: Calls to look ahead for one that is executed once. A judgement, not measured.
CALLS_LOOKED_AHEAD = 20

#: Sizes of a leaf that lie this close together become one constant, the largest over
#: the smallest [1]. A judgement, not measured.
LARGEST_SIZE_RATIO = 1.1

#: Rounds of mending before the plan is refused. A judgement, not measured.
MOST_MENDING_ROUNDS = 50

#: After so many of them all sends of a call site are mended where one is. A judgement,
#: not measured.
MENDING_ROUNDS_ONE_BY_ONE = 20

#: Largest difference of message sizes that become one, relative to their mean [1]. A
#: judgement, not measured.
LARGEST_SIZE_DIFFERENCE = 0.12

#: How much larger a message can become, for it can be evened twice: for the ranks of a
#: program, then for the programs of a function [1]. It follows from the line above.
LARGEST_SIZE_GROWTH = 1 / (1 - LARGEST_SIZE_DIFFERENCE) ** 2

#: Sequences of calls are merged when they have at least this part in common [1]. A
#: judgement, not measured.
LEAST_COMMON_CALLS = 0.8

#: Most different sequences that are compared with each other. It bounds the time of a
#: build; a judgement, not measured.
MOST_SEQUENCES_COMPARED = 16

#: Lines of tables for each line of a function: what a repeated stretch must save. A
#: judgement, not measured.
TABLE_LINES_PER_LINE = 0.25

#: Programs with more items are written as a list of steps: as loops they would have
#: more than 5,000 lines. They are not searched for repeats, which bounds the time of a
#: build. A judgement, not measured.
MOST_PROGRAM_ITEMS = 2500

#: In such a list each operation takes some four lines. Of more of them, all programs
#: together, those that are alike are one: half of the lines that a skeleton may have. A
#: judgement, not measured.
MOST_OPERATIONS = 2500

#: So many kinds of calls are left then, unless there are more symbols: some 2,000 of
#: the 5,000 lines that a skeleton should have. A judgement, not measured.
MOST_KINDS = 500

#: Where there would be more items than this, each symbol is one kind: some four fifths
#: of a line each, of the 20,000 that are written. NWChem has 17,851 lines of 22,380.
MOST_LISTED_ITEMS = 24_000

#: Part of the computation that is little enough to stand before another call than in
#: the application [1]. A judgement, not measured.
LEAST_MOVED_SHARE = 0.03

#: Most stretches of a program that become functions. It bounds the time of a build; a
#: judgement, not measured.
MOST_REPEATS = 30

#: Lines that a function for equal stretches must save; alike ones, which come later,
#: save lines inside it, too. A judgement, not measured.
LEAST_LINES_SAVED = 20

#: Computation with a smaller share of the time is the same on all ranks and at all
#: places [1]. A judgement, not measured.
LEAST_VARIED_COMPUTE_SHARE = 5e-4

#: Share of the application's time from which on ranks sleep in a skeleton [1]; less is
#: computation: a page that is read is a sleep, too. A judgement, not measured.
LEAST_IDLE_SHARE = 0.01

#: Computation that is not worth a call: the loop around it takes as long [us]. A
#: judgement, not measured.
SHORTEST_COMPUTE_US = 0.02

#: Polls for each occurrence of a call from which on a skeleton polls as well [1]: fewer
#: may be chance. A judgement, not measured.
LEAST_POLLS = 1.0

#: Share of a wait that is sleep between polls, from which on a skeleton sleeps between
#: its polls [1]: the rank left its core most of the time. A judgement, not measured.
LEAST_NAP_SHARE = 0.5

#: Loops with at least this share of a routine's time are sections of their own [1]. It
#: concerns the look of the program only.
LEAST_SECTION_SHARE = 0.1

#: Inner loops with at least this share have a comment that says so [1]. It concerns the
#: look of the program only.
LEAST_COMMENTED_SHARE = 0.05

#: Time that partners may let the serving rank wait between two messages, together and
#: as a share of what the busiest of them computes [1]. More is work of its own. A
#: judgement, not measured.
LARGEST_WAIT_SHARE = 0.05

#: Computation that may lie between calls and their completion, as a share of all that a
#: rank computes [1]. More of it overlaps with the message. A judgement, not measured.
LARGEST_OVERLAPPED_SHARE = 0.05

#: More dropped time than this is worth a warning [1]. A judgement, not measured.
LEAST_DROPPED_WARNED = 0.02

#: Averages of computation with at least this share of the time are listed [1]. A
#: judgement, not measured.
LEAST_LISTED_SHARE = 1e-5

#: Longest sequence of calls that is compared with others call by call, and most
#: differences that are looked for. They bound the time of a build; judgements, not
#: measured.
LONGEST_COMPARED, MOST_DIFFERENCES = 50_000, 250

#: Lines of text of a call, of a loop around its body, and of a function: what a
#: repeated stretch costs. Round
#: numbers, not measured.
CALL_LINES, LOOP_LINES, FUNCTION_LINES = 3, 2, 6

#: Longest list of message sizes that a split may need. A judgement, not measured.
MOST_SIZES_OF_A_SPLIT = 64

#: Lines of a program from which its cost is told, and the most that are written. Round
#: numbers: regular programs have some hundreds. Judgements, not measured.
LINES_WARNED, MOST_LINES = 5_000, 20_000

#: What compiling a line costs beyond 5,000 lines: processor time [s] and memory [KiB].
#: Measured with the Makefile's options on a core of 2.6 GHz: 46 s and 0.70 GiB for
#: 14,511 lines, 119 s and 1.07 GB for 51,897.
COMPILED_S_PER_LINE, COMPILED_KIB_PER_LINE = 0.0027, 35

#: Rarer than the scheduler's own ticks, queries of the CPU time change nothing [1/s].
FEWEST_CPU_TIME_QUERIES_PER_S = 100.0

#: Queries that follow another one sooner change nothing: slices are some milliseconds
#: [us]. A judgement, not measured.
SHORTEST_QUERY_GAP_US = 8.0
