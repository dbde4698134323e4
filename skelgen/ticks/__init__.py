"""Place every call on a logical clock.

In: `Calls` and `Matching`. Out: a tick for each call, one more than the latest of
its own rank's previous tick and those of the calls it had to wait for; and the order
of whole matched events that follows from it. Collectives that ranks called in
different orders come into one.
Papers: PAS2P (Martinez Canillas 2011, chapter 4), whose logical time this is; the
skeletons of Sodhi and Subhlok 2005, section III, need the order only.
"""

from skelgen.ticks.kernel import place
from skelgen.ticks.order import linear_extension

__all__ = ["linear_extension", "place"]
