"""What is asked of a program's file, and the answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Where in the source an address is.

    Attributes
    ----------
    file : str
        As the compiler wrote it; empty where only the function is known.
    line : int
        0 where it is not known.
    function : str
        The innermost one, inlined or not; empty where it is not known.
    """

    file: str
    line: int
    function: str

    @property
    def place(self) -> str:
        """Return file and line for people, without folders; empty: not known.

        Examples
        --------
        >>> SourceLine("/src/heat2d.c", 120, "main").place
        'heat2d.c:120'
        """
        name = self.file.rpartition("/")[2]
        return f"{name}:{self.line}" if name and self.line else ""


@dataclass(frozen=True, slots=True)
class Module:
    """An executable or shared library of a run.

    Attributes
    ----------
    path : str
    build_id : str
        That the recorder saw, hexadecimal; empty where there was none.
    recorded_s : float
        When the run began, seconds since 1970; 0: not known [s].
    addresses : tuple of int
        To which calls return, as the file counts them; what takes most time first.
    """

    path: str
    build_id: str
    recorded_s: float
    addresses: tuple[int, ...]
