"""What a recording cannot show: work that no skeleton does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skelgen.documents import Field
from skelgen.trust.thresholds import LEAST_UNRECORDED_SHARE, SHORTEST_UNRECORDED_S
from skelgen.trust.types import Doubt
from skelgen.units import format_seconds

#: Longest list of names that is read, and longest name.
_MOST_NAMES, _LONGEST_NAME = 64, 2000


@dataclass(frozen=True, slots=True)
class Used:
    """Time that went into something.

    Attributes
    ----------
    time_s : float
        All ranks [s].
    share : float
        Of the time of the rank that spent most on it; CPU time may exceed 1 [1].
    """

    time_s: float = 0.0
    share: float = 0.0

    @property
    def notable(self) -> bool:
        """Say whether it is enough to matter."""
        return (
            self.share > LEAST_UNRECORDED_SHARE and self.time_s > SHORTEST_UNRECORDED_S
        )

    def told(self, what: str) -> str:
        """Say how much of what it is, and its share."""
        time = format_seconds(self.time_s)
        return f"{time} of {what} (up to {self.share:.1%} of a rank's time)"


@dataclass(frozen=True, slots=True)
class Unseen:
    """What the ranks of a recorded run did that its events do not show.

    Attributes
    ----------
    threads : Used
        CPU time of threads that computed beside the one whose calls are recorded.
    children : Used
        CPU time of processes that the ranks started.
    files : Used
        Time in reading and writing files outside MPI.
    file_bytes : int
        What was read and written then [bytes].
    children_left : bool
        Whether children ran on when the recording ended.
    gpu : tuple of str
        GPU runtimes that were loaded.
    hidden : tuple of str
        Tools in front of the recorder, with the functions whose calls they hid.
    """

    threads: Used = Used()
    children: Used = Used()
    files: Used = Used()
    file_bytes: int = 0
    children_left: bool = False
    gpu: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            **{
                name: {"seconds": used.time_s, "share": used.share}
                for name, used in self._used()
            },
            "file_bytes": self.file_bytes,
            "children_left": int(self.children_left),
            "gpu": list(self.gpu),
            "hidden": list(self.hidden),
        }

    def _used(self) -> tuple[tuple[str, Used], ...]:
        return (
            ("threads", self.threads),
            ("children", self.children),
            ("files", self.files),
        )


def read_unseen(field: Field) -> Unseen:
    """Read what `Unseen.facts` returned.

    Raises
    ------
    InputError
        When a field is missing or wrong.
    """
    fields = field.mapping(tuple(Unseen().facts()))
    used = {}
    for name in ("threads", "children", "files"):
        parts = fields[name].mapping(("seconds", "share"))
        used[name] = Used(parts["seconds"].amount(), parts["share"].amount())
    return Unseen(
        **used,
        file_bytes=fields["file_bytes"].integer(0, 2**62),
        children_left=bool(fields["children_left"].integer(0, 1)),
        gpu=_names(fields["gpu"]),
        hidden=_names(fields["hidden"]),
    )


def _names(field: Field) -> tuple[str, ...]:
    items = field.items()
    if len(items) > _MOST_NAMES:
        raise field.error(f"read {len(items)} names, expected at most {_MOST_NAMES}")
    return tuple(_name(item) for item in items)


def _name(field: Field) -> str:
    text = field.text()
    if not text.isprintable() or len(text) > _LONGEST_NAME:
        raise field.error(f"read {text[:60]!r}, expected the name of a library")
    return text


def unseen_doubts(unseen: Unseen | None) -> tuple[Doubt, ...]:
    """Return why a skeleton of a run stands for less than the run did.

    Parameters
    ----------
    unseen : Unseen or None
        None for recordings of older recorders, which did not look.
    """
    return () if unseen is None else (*_doubts(unseen), *hidden_doubts(unseen))


def hidden_doubts(unseen: Unseen | None) -> tuple[Doubt, ...]:
    """Return why not even the application itself can be judged by its recorded calls.

    Where its phases are executed it has its threads, children, files and GPU; calls
    that a tool hid are missing there as in a skeleton.

    Parameters
    ----------
    unseen : Unseen or None
        None for recordings of older recorders, which did not look.
    """
    return tuple(
        Doubt(
            "hidden-calls",
            f"calls are missing: {tool} in front of the recorder hid them; the share "
            "of the time is not known",
            "record without that tool, or with the recorder first in LD_PRELOAD",
        )
        for tool in (() if unseen is None else unseen.hidden)
    )


def _doubts(unseen: Unseen) -> Iterator[Doubt]:
    if unseen.threads.notable:
        yield Doubt(
            "threads",
            "several threads of a rank computed at the same time, a skeleton has one: "
            f"{unseen.threads.told('CPU time')} is not in it",
            "run with one thread in each rank (OMP_NUM_THREADS=1), or measure phases "
            "of the application itself: skelgen measure",
        )
    if unseen.children.notable:
        running = "; some still ran at its end" if unseen.children_left else ""
        yield Doubt(
            "children",
            "the ranks started other processes, a skeleton starts none: "
            f"{unseen.children.told('CPU time')} is not in it{running}",
            "measure phases of the application itself: skelgen measure",
        )
    if unseen.gpu:
        yield Doubt(
            "gpu",
            f"a GPU runtime is loaded ({', '.join(unseen.gpu)}): a skeleton uses no "
            "GPU; the share of the time is not known",
            "measure phases of the application itself: skelgen measure",
        )
    if unseen.files.notable:
        yield Doubt(
            "file-io",
            "the ranks read and wrote files, a skeleton computes instead: "
            f"{unseen.files.told('file I/O')}",
            "write fewer files in the recorded run, or measure phases of the "
            "application itself: skelgen measure",
        )
