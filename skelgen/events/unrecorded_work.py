"""What the ranks of a run did that no event shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from skelgen.trace import RankFile
from skelgen.trace.definition_types import RankUnseen
from skelgen.trust.recording_doubts import Unseen, Used
from skelgen.units import NS_PER_S


def unseen_of(files: Sequence[RankFile]) -> Unseen | None:
    """Join what the recorder told of each rank.

    Parameters
    ----------
    files : sequence of RankFile

    Returns
    -------
    Unseen or None
        None where no rank told it: an older recorder, or all ranks were killed.
    """
    told = [one for f in files if (one := f.definitions.unseen) is not None]
    if not told:
        return None

    def used(part: Callable[[RankUnseen], int]) -> Used:
        shares = [part(one) / one.time_ns for one in told if one.time_ns]
        return Used(sum(map(part, told)) / NS_PER_S, max(shares, default=0.0))

    return Unseen(
        threads=used(lambda one: one.thread_ns),
        children=used(lambda one: one.child_ns),
        files=used(lambda one: one.file_ns),
        file_bytes=sum(one.file_bytes for one in told),
        children_left=any(one.children_left for one in told),
        gpu=tuple(sorted({name for one in told for name in one.gpu})),
        hidden=tuple(sorted({tool for one in told for tool in one.hidden})),
    )
