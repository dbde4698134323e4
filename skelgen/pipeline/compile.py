"""From a recorded run to its signature: all stages in a row, by one process or several.

Each process of a team reads the files of its own ranks, and keeps their times. The
structure of all calls (shape, requests, bytes) stands together in the first process,
which matches calls and gives them symbols; what follows is again done where the times
are. A team of one does the same without sending anything.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain, pairwise
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Events
from skelgen.events.collect import collect_part
from skelgen.events.completion_order import in_canonical_order
from skelgen.events.conditions import conditions, told_apart
from skelgen.events.dealt_completions import one_by_one
from skelgen.events.durations import with_durations
from skelgen.events.rank_parts import Common, EventsOfRanks, join, with_tables
from skelgen.events.shared_cores import shared_cores
from skelgen.events.summary import RecordedCalls, added_calls, recorded_calls
from skelgen.events.touched_memory import touched_of
from skelgen.events.uncounted_calls import passed_on
from skelgen.events.unrecorded_work import unseen_of
from skelgen.launch.record import read_facts
from skelgen.loops import fold_alike
from skelgen.matching import Matching, match
from skelgen.matching.equal_families import with_one_for_equal
from skelgen.matching.posted_receives import received_on_completion
from skelgen.pipeline.build_team import ALONE, Team
from skelgen.pipeline.execution_order import STRUCTURE, executable
from skelgen.pipeline.provenance import provenance_of
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.signature import RankGroup, Signature
from skelgen.signature.join import joined
from skelgen.signature.summarise import (
    groups_of,
    outlines_of,
    rank_groups,
    signature_of,
    total_compute,
)
from skelgen.signature.types import COUNTED_ONLY
from skelgen.symbols.cluster import auto_threshold, clusters_of, with_times
from skelgen.symbols.types import VARYING, Clusters, Symbols, lost_together
from skelgen.trace import RankFile, Trace
from skelgen.trace.definition_types import sum_of_gaps
from skelgen.trace.folder import rank_paths, read_ranks, trace_of
from skelgen.units import seconds

logger = logging.getLogger(__name__)

#: Columns of calls that clustering finds.
_FOUND = ("fate", "symbol", "size_bytes", "varying_peer")


@dataclass(frozen=True, slots=True)
class WantedSimilarity:
    """The similarity threshold that the user asked for, and K for ``auto``."""

    similarity_threshold: float | str | None
    scaling_factor: float | None
    target_s: float | None

    def find(
        self, calls: Calls, matching: Matching, application_ns: int
    ) -> float | None:
        """Return the threshold, searched for where it is ``auto``.

        References
        ----------
        Sodhi and Subhlok 2005, section III-B: compression ratio Q = K / 2.
        """
        if not isinstance(self.similarity_threshold, str):
            return self.similarity_threshold
        factor = self.scaling_factor or seconds(application_ns) / (self.target_s or 1.0)
        found = auto_threshold(calls, matching, compression_ratio=factor / 2)
        if not found.reached:
            logger.warning(
                "no similarity threshold up to %g reaches the compression ratio K/2 = "
                "%g (%.3g reached)",
                found.similarity_threshold,
                factor / 2,
                found.compression_ratio,
            )
        return found.similarity_threshold


def signature_of_run(
    folder: Path,
    wanted: WantedSimilarity,
    progress: Progress = NO_PROGRESS,
    team: Team = ALONE,
    look: Callable[[Events, range, Team], None] | None = None,
) -> Any:
    """Make the signature of a recorded run.

    Parameters
    ----------
    folder : Path
    wanted : WantedSimilarity
    progress : Progress
    team : Team
    look : callable, optional
        Shown the calls of the own ranks, in each process.

    Returns
    -------
    Signature
        In the first process; None in others.
    """
    paths = team.share(team.first(lambda: rank_paths(folder)))
    ranks = paths.shared_out(team.size)[team.rank]
    files = team.each(lambda: read_ranks(paths, ranks, progress))
    outlines = team.gather([file.outline() for file in files])
    run = team.first(lambda: trace_of(paths, list(chain(*outlines))))
    common = team.scatter(team.first(lambda: _common(run, outlines)))
    own = Trace(folder, tuple(files), paths.world_size, (), ())
    progress.start("finding the structure", 4)
    collected = [team.each(lambda: collect_part(own, common))]
    calls = added_calls(team.gather(recorded_calls(collected[0].events)))
    collected.append(_in_canonical_order(collected.pop()))
    progress.advance(1)
    joint, part = _joint(collected.pop(), common.warnings, team)
    events, concurrent = executable(part, team)
    del part
    if look is not None:
        look(events, ranks, team)
    moments = [events]
    del events
    events, clusters = _clustered(with_durations(moments.pop()), joint, wanted, team)
    progress.advance(1)
    symbols = with_times(clusters, events)
    del clusters
    groups = _groups(events, symbols, ranks, team)
    progress.advance(1)
    lost = lost_together(chain(*team.gather(symbols.lost)))
    counts = np.sum(team.gather(events.calls.first), axis=0)
    events = replace(events, calls=replace(events.calls, first=counts))
    symbols = replace(symbols, lost=lost)
    result = partial(_result, events, symbols, groups, run)
    signature = team.first(lambda: result(concurrent=concurrent, calls=calls))
    progress.advance(1)
    progress.finish()
    return signature


def _in_canonical_order(part: EventsOfRanks) -> EventsOfRanks:
    """Put completions in order that were found by polling; each rank on its own."""
    return replace(part, events=in_canonical_order(one_by_one(part.events)))


def _common(run: Trace, outlines: Sequence[Sequence[RankFile]]) -> list[Common]:
    """Return what each process has to know of the files of all."""
    common = Common.of(run.files, run.world_size)
    edges = accumulate((len(some) for some in outlines), initial=0)
    return [common.only(slice(*edge)) for edge in pairwise(edges)]


def _joint(
    part: EventsOfRanks, warnings: Sequence[str], team: Team
) -> tuple[Events, Events]:
    """Return the run without calls, and the own events with the tables of all."""
    outlines = team.gather(part.outline())
    joint, numbers = team.share(team.first(lambda: join(outlines, warnings)))
    return joint, with_tables(part, joint, numbers[team.rank] if numbers else None)


def _clustered(
    events: Events, joint: Events, wanted: WantedSimilarity, team: Team
) -> tuple[Events, Clusters]:
    """Match the calls of all; return the own events with their clusters."""
    calls, own = events.calls, len(events.calls)
    firsts = team.gather(calls.first)
    columns: dict[str, Any] = {
        name: team.join(getattr(calls, name)) for name in STRUCTURE
    }
    # What is in `columns` is not needed twice, and sizes come back with the clusters.
    shape = columns["shape"][:own]
    calls = replace(
        calls,
        shape=shape if team.size == 1 else shape.copy(),
        size_bytes=calls.size_bytes[:0].copy(),
        ages=calls.ages[:0].copy(),
    )
    events = replace(events, calls=calls)

    def find() -> Clusters:
        vectors: dict[str, Any] = {
            "vector_call": calls.vector_call[:0],
            "vectors": calls.vectors[:0],
        }
        first = np.sum(firsts, axis=0)
        everything = replace(calls, first=first, **columns, **vectors)
        return _clusters(everything, joint, wanted)

    found = team.first(find)
    columns.clear()
    return events, _divided(found, own, team)


def _clusters(calls: Calls, joint: Events, wanted: WantedSimilarity) -> Clusters:
    """Match the calls of all ranks and give them symbols."""
    calls = received_on_completion(calls)
    matched = [match(calls, completions=False, narrow=True)]
    for problem in (*joint.warnings, *matched[0].problems):
        logger.warning("%s", problem)
    calls = with_one_for_equal(calls, matched[0])
    threshold = wanted.find(calls, matched[0], joint.application_ns)
    return clusters_of(calls, matched.pop(), similarity_threshold=threshold)


def _divided(found: Clusters | None, own: int, team: Team) -> Clusters:
    """Give each process the clusters of its own calls."""
    outline = None
    if found is not None:
        nothing: dict[str, Any] = {name: getattr(found, name)[:0] for name in _FOUND}
        outline = replace(found, **nothing)
    known = team.share(outline)
    assert known is not None
    varies = (known.table["peer"] == VARYING).any()
    names = _FOUND if varies else _FOUND[:-1]
    mine: dict[str, Any] = {
        name: team.divide(getattr(found or known, name), own) for name in names
    }
    mine.setdefault("varying_peer", np.zeros(own, np.int32))
    return replace(known, **mine)


def _groups(
    events: Events, symbols: Symbols, ranks: range, team: Team
) -> list[RankGroup]:
    """Summarise the own ranks; the first process gets the groups of all."""
    keys = team.gather(groups_of(events.calls, symbols, ranks))
    groups = team.share(team.first(lambda: _same_keys(keys)))
    strings = {
        group[0]: _string(events.calls, symbols, group[0])
        for group in groups
        if group[0] in ranks
    }

    def longest(own: int) -> int:
        return int(team.share(max(team.gather(own), default=0)))

    folded = team.gather(fold_alike(strings, longest))
    nests = team.share({rank: nest for some in folded for rank, nest in some.items()})
    shapes = [(group, nests[group[0]]) for group in groups]
    totals = team.gather(
        [
            total_compute(events.calls, symbols, [r for r in group if r in ranks], nest)
            for group, nest in shapes
        ]
    )
    sums = [_sum(of_group) for of_group in zip(*totals, strict=True)]
    table = symbols.table
    outlines, wanted = team.share(team.first(lambda: outlines_of(shapes, sums, table)))
    parts = team.gather(rank_groups(events, symbols, outlines, wanted, ranks))
    return [joined(list(chain(*of_group))) for of_group in zip(*parts, strict=True)]


def _same_keys(parts: Sequence[dict[bytes, tuple[int, ...]]]) -> list[tuple[int, ...]]:
    groups: dict[bytes, tuple[int, ...]] = {}
    for part in parts:
        for key, ranks in part.items():
            groups[key] = groups.get(key, ()) + ranks
    return list(groups.values())


def _string(calls: Calls, symbols: Symbols, rank: int) -> NDArray[np.int32]:
    string = symbols.symbol[calls.first[rank] : calls.first[rank + 1]]
    return string[string >= 0]


def _sum(totals: Sequence[NDArray[np.int64] | None]) -> NDArray[np.int64] | None:
    known = [total for total in totals if total is not None]
    return np.sum(known, axis=0) if known else None


def _result(
    events: Events,
    symbols: Symbols,
    groups: Sequence[RankGroup],
    run: Trace,
    *,
    concurrent: int,
    calls: RecordedCalls,
) -> Signature:
    facts = read_facts(run.folder)
    threshold = symbols.similarity_threshold
    provenance = provenance_of(run, facts, None if isnan(threshold) else threshold)
    signature = signature_of(events, symbols, groups, provenance)
    return replace(
        signature,
        dropped=(*signature.dropped, *_not_recorded(run)),
        usage_queries=sum(file.definitions.usage_queries for file in run.files),
        usage_gaps=sum_of_gaps(file.definitions.usage_gaps for file in run.files),
        not_computed=_not_computed(run),
        unseen=unseen_of(run.files),
        touched=touched_of(run.files, signature.computed_s),
        concurrent_ranks=concurrent,
        recorded_calls=calls,
    )


def _not_computed(run: Trace) -> tuple[tuple[str, float], ...]:
    """Return what ranks did between calls that skeletons do not, and for how long [s].

    Where gaps say why ranks had no core, what others took is left out, and the skeleton
    sleeps as they did, though no disk moves.
    """
    others_had = "shared" if shared_cores(run.files) else "queued"
    apart: list[RankFile] = []
    others: list[RankFile] = []
    for file, apart_there in zip(run.files, told_apart(run.files), strict=True):
        (apart if apart_there else others).append(file)
    parts: dict[str, float] = {}
    if apart:
        taken = conditions(apart)
        parts |= {others_had: taken.queued_s, "disks": taken.devices_s}
    if others:
        taken = conditions(others)
        parts |= {"slept": taken.slept_s, "files": taken.devices_s}
    return tuple((what, part_s) for what, part_s in parts.items() if part_s)


def _not_recorded(run: Trace) -> list[tuple[str, int, float]]:
    """Return the calls that communicate but became no event.

    The skeleton has their time: it stands there as computation.
    """
    return [
        (f"{one.name}: {COUNTED_ONLY}", one.calls, one.time_s)
        for one in passed_on(run.files)
        if one.communicates
    ]
