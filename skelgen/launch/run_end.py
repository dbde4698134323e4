"""Wait for a run to end, and say in words how it failed."""

from __future__ import annotations

import re

from skelgen.launch.host_runner import Running
from skelgen.launch.interrupts import Interrupts
from skelgen.launch.process import NO_RESULT, Finished
from skelgen.units import format_seconds

#: How often a run is asked whether it has ended [s].
_PAUSE_S = 0.01
#: Said by srun, which ends well when the ranks on all other nodes did.
_NODE_LOST = re.compile(r"Node failure on \S+")


def failure_of(done: Finished) -> str | None:
    """Say in words how a run failed, None when it did not."""
    if done.timed_out:
        return f"did not end within {format_seconds(done.time_s)} and was ended"
    if done.exit_code == NO_RESULT:
        return done.errors
    if done.exit_code:
        return f"failed with exit code {done.exit_code}: {done.complaint}"
    if lost := _NODE_LOST.search(done.errors):
        return f"was not run whole: {lost[0]}"
    return None


def ended(running: Running) -> Finished:
    """Wait until a run has ended; end it when skelgen is interrupted meanwhile."""
    with Interrupts() as interrupts:
        try:
            while (done := running.poll()) is None:
                interrupts.pause(_PAUSE_S)
        finally:
            running.stop()
    return done
