"""Join the calls of different ranks into whole matched events.

In: `Calls` (of a trace, or expanded from a signature). Out: `Matching`.
Messages match by communicator, source, destination and tag in FIFO order,
collectives by communicator and sequence number, requests join start and completion.
Paper: Sodhi and Subhlok 2005, section III-B.
"""

from skelgen.matching.types import Matching
from skelgen.matching.whole_events import match

__all__ = ["Matching", "match"]
