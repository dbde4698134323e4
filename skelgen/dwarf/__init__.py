"""Source lines of addresses in programs and libraries.

In: the path of an ELF file, the build id that the recorder saw, addresses in it. Out:
file, line and function of each, or why they are not known. It reads files that anybody
may have made with a library that trusts them, so it is a program of its own:
``python -m skelgen.dwarf REQUEST.json``. `skelgen.pipeline` starts it, with limits of
time and memory, and takes what it has printed until then.
"""

from skelgen.dwarf.types import Module, SourceLine

__all__ = ["Module", "SourceLine"]
