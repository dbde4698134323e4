"""Loads of nodes as other tools measured them.

In: text of Prometheus (node_exporter), PCP, LDMS or sar. Out: `Loads`, samples of the
quantities that the monitor has, by host. The available CPU is estimated by the rule of
the monitor (`skelgen.monitor.sharing`) from what these tools know, and is named for its
source: ``cpu:sar``. Nothing here opens files or starts programs.
Source: Yagnik 2006, section 2.1 (available CPU).
"""

from skelgen.sources.loads import Loads
from skelgen.sources.recognising import KINDS, kind_of
from skelgen.sources.types import Line

__all__ = ["KINDS", "Line", "Loads", "kind_of"]
