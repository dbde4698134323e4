"""What a run did that its skeleton does not: the doubts, one for each thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skelgen.documents import Field
from skelgen.trust.recording_doubts import Unseen, unseen_doubts
from skelgen.trust.thresholds import LARGEST_UNLIKE_SHARE
from skelgen.trust.types import Doubt

_MOST = f"(at most {LARGEST_UNLIKE_SHARE:.0%} is trusted)"
_COMPUTES = f"the skeleton computes instead {_MOST}"
_TAKEN_OUT = (
    "which is taken out of the computation, but not out of the time of the run and of "
    "MPI calls that waited for them"
)
_PHASES = "run the application's phases instead: skelgen measure"

#: What a rank does between calls that is no computation: in words, what the skeleton
#: does, and the remedy. The first two are of recordings that know sums only.
NOT_COMPUTED = {
    "slept": (
        "slept, or waited for something other than MPI and files",
        _COMPUTES,
        _PHASES,
    ),
    "files": ("waited for files", _COMPUTES, _PHASES),
    "disks": (
        "waited for files",
        f"the skeleton sleeps as long and loads no disk {_MOST}",
        _PHASES,
    ),
    "queued": (
        "waited for a core that other processes had",
        _TAKEN_OUT,
        "calibrate, or record again on a quiet machine",
    ),
    "shared": (
        "waited for a core that other ranks had",
        _TAKEN_OUT,
        "calibrate, or record with a core for each rank",
    ),
}

_OF_FILES = ("files", "disks")

#: What ranks did between calls that is no computation: a key of `NOT_COMPUTED`, and for
#: how long: a time [s], or its share of the application's [1].
NotComputed = tuple[tuple[str, float], ...]


def read_not_computed(field: Field | None) -> NotComputed:
    """Read what ranks did between calls that is no computation.

    Parameters
    ----------
    field : Field or None
        None in older files.

    Raises
    ------
    InputError
        When it is something else, or an amount is none.
    """
    if field is None:
        return ()
    parts = field.mapping(optional=NOT_COMPUTED)
    return tuple((what, part.amount()) for what, part in parts.items())


def unlike_doubts(
    unseen: Unseen | None, not_computed: Sequence[tuple[str, float]]
) -> tuple[Doubt, ...]:
    """Return why a skeleton of a run does something else than the run did.

    Files are seen twice: by how long calls that read and write them took, and by how
    long ranks waited for a disk. These waits are a part of that time, so where it is
    enough to matter it alone is told (``file-io``). Where it is not, as with files that
    are mapped into memory, the waits are (``files``).

    Parameters
    ----------
    unseen : Unseen or None
        None for recordings of older recorders, which did not look.
    not_computed : sequence of (str, float)
        What else the ranks did between calls, and its share of the time [0 to 1].
    """
    timed = unseen is not None and unseen.files.notable
    idle = [one for one in not_computed if not (timed and one[0] in _OF_FILES)]
    return (*unseen_doubts(unseen), *_idle(idle))


def _idle(not_computed: Sequence[tuple[str, float]]) -> Iterator[Doubt]:
    for what, share in not_computed:
        if share > LARGEST_UNLIKE_SHARE:
            done, instead, remedy = NOT_COMPUTED[what]
            yield Doubt(
                what,
                f"the application's ranks {done} for {share:.1%} of the time, "
                f"{instead}",
                remedy,
            )
