"""A recorded run in the formats of other tools, so that people can look at it.

In: a `Trace`. Out: files for Perfetto, Paraver, SimGrid (time-independent traces) or
OTF2. Events are read block by block and matched through files without names, so
memory does not grow with the number of events. docs/export.md says what becomes what.
"""
