"""A recorded run on disk: opened, checked and decoded; nothing else knows its bytes.

In: the folder that the recorder wrote. Out: a `Trace` of `RankFile`, whose events
`decode` turns into columns. docs/trace_format.md describes the files.
Paper: Sodhi and Subhlok 2005, section III-A.
"""

from skelgen.trace.folder import open_trace
from skelgen.trace.rank_file import decode
from skelgen.trace.stream import EventColumns, TimeScale
from skelgen.trace.types import RankFile, Trace

__all__ = ["EventColumns", "RankFile", "TimeScale", "Trace", "decode", "open_trace"]
