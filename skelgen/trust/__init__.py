"""How sure an answer is: its interval, what makes it doubtful, and the verdict.

Skeletons, phases and workload studies use these types and rules alike, so that one
question has one answer whoever gives it.
"""

from skelgen.trust.rules import too_wide, unmeasured
from skelgen.trust.types import Doubt, Interval, verdict_of

__all__ = ["Doubt", "Interval", "too_wide", "unmeasured", "verdict_of"]
