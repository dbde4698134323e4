"""Memory that a file may ask for, refused before it is taken.

A few hundred bytes of YAML can stand for billions of numbers. What reads them says what
they will take first.
"""

from __future__ import annotations

import os
import re
import resource
from dataclasses import dataclass

from skelgen.errors import UsageError
from skelgen.units import format_bytes

MEMORY_VARIABLE = "SKELGEN_MAX_MEMORY"
#: Memory for what one file stands for, unless the variable says more [bytes].
USUAL_BYTES = 4 << 30
_SIZE = re.compile(r"([0-9]{1,9})\s*([KMGT]?)(i?B)?", re.I)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class BudgetError(ValueError):
    """Something would take more memory than it may."""


@dataclass(slots=True)
class Budget:
    """What the content of one file may take.

    Attributes
    ----------
    taken_bytes : int
        What was taken already [bytes].
    """

    taken_bytes: int = 0

    def take(self, size_bytes: int, what: str) -> None:
        """Take memory.

        Parameters
        ----------
        size_bytes : int
        what : str
            What needs it, in the plural.

        Raises
        ------
        BudgetError
            When it is more than is left.
        """
        most_bytes = most_memory_bytes()
        self.taken_bytes += size_bytes
        if self.taken_bytes > most_bytes:
            raise BudgetError(
                f"{what} take about {format_bytes(self.taken_bytes)} of memory, "
                f"expected at most {format_bytes(most_bytes)}; if the file is right, "
                f"allow more with {MEMORY_VARIABLE}, such as {MEMORY_VARIABLE}=64GiB"
            )


def most_memory_bytes() -> int:
    """Return what the content of one file may take [bytes].

    That is 4 GiB, or half of the memory that this process can have if that is less.

    Raises
    ------
    UsageError
        When the variable is set to something else.
    """
    text = os.environ.get(MEMORY_VARIABLE, "").strip()
    if not text:
        return min(USUAL_BYTES, _memory_bytes() // 2)
    size = _SIZE.fullmatch(text)
    if size is None or not int(size[1]):
        raise UsageError(
            f"{MEMORY_VARIABLE}={text}: expected a size such as 8GiB or 500MB"
        )
    return int(size[1]) << _UNITS[size[2].upper()]


def _memory_bytes() -> int:
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            limits.append(soft)
    return min(limits)
