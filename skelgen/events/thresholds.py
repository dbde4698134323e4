"""Decide what is said of clocks, machine, recording and masters: our judgements.

A value without a measurement says so.
"""

from __future__ import annotations

#: Two readings of a clock tell its speed when they are this far apart [ns]. A
#: judgement, not measured.
SHORTEST_CLOCK_SPAN_NS = 10_000_000

#: Clocks that differ from their nominal speed by more are not believed [1]. A
#: judgement, not measured.
LARGEST_CLOCK_ERROR = 0.01

#: Above this share of lost computation the machine was not quiet [1]. A judgement, not
#: measured.
LOADED_SHARE = 0.03

#: What recording may take of the ranks' time without a word [0 to 1]. A judgement, not
#: measured.
COSTLY_SHARE = 0.02

#: What recording may take in all without a word [s]. A judgement, not measured.
COSTLY_S = 0.01

#: What fewer of many times have is chance [1]. A judgement, not measured.
LARGEST_CHANCE = 0.05

#: A rank deals when so many of its receives are answered next, or so many of what it
#: sends are answers [1]: all of a master's but the last of each worker, at most half of
#: those of a rank with two neighbours. It lies between the two; not measured.
LEAST_ANSWERED_SHARE = 0.75
