"""All calls of all ranks as flat arrays: what every later stage works on.

In: a `Trace`. Out: `Events`, whose `Calls` part holds the structure (who called
what, with whom) and can also be expanded from a stored signature.
Paper: Sodhi and Subhlok 2005, section III-A.
"""

from skelgen.events.collect import collect
from skelgen.events.functions import CallKind, FunctionInfo, function_info
from skelgen.events.shape_kinds import shape_kinds
from skelgen.events.types import SHAPE_DTYPE, Calls, Communicator, Events

__all__ = [
    "SHAPE_DTYPE",
    "CallKind",
    "Calls",
    "Communicator",
    "Events",
    "FunctionInfo",
    "collect",
    "function_info",
    "shape_kinds",
]
