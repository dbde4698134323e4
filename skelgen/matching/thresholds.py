"""Decide what matching tries: all judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: More families of communicators of the same ranks than this are tried as one. A
#: program with a few has them for different things, and its calls fold as they are. A
#: judgement, not measured.
MOST_EQUAL_FAMILIES = 16

#: What a rank does behind a message is looked at up to so many calls, for one that
#: waits for the receiver. Workers wait at once, or behind some messages with data. A
#: judgement, not measured.
MOST_CALLS_BEHIND = 64
