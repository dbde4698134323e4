"""Say what a plan kept, merged and dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.signature import Signature
from skelgen.signature.labels import symbol_label
from skelgen.skeleton.keep.dominant_sequence import largest_good_scaling_factor
from skelgen.skeleton.quantities.durations import deviation, uneven_leaves
from skelgen.skeleton.quantities.leaf_table import LeafTable, leaf_table
from skelgen.skeleton.quantities.series import longest_compute_s, series_sums
from skelgen.skeleton.thresholds import (
    LARGEST_CLASS_DEVIATION,
    LARGEST_UNSAID_DEVIATION,
    LEAST_CLASS_SHARE,
    LEAST_DIVIDED_BYTES,
    LEAST_DROPPED_WARNED,
    LEAST_LISTED_SHARE,
    LONGEST_LATENCY_NS,
)
from skelgen.skeleton.types import KeptClass, Program, Report
from skelgen.trust.skeleton_doubts import unlike_doubts
from skelgen.units import NS_PER_S, format_bytes, format_seconds

#: Averages that are listed.
_MERGED_LISTED = 10


@dataclass(frozen=True, slots=True)
class KeptQuantities:
    """What became of computation and bytes.

    Attributes
    ----------
    divided : bool
        Computation is a K-th of the application's, the calls are not.
    sent : float
        Kept part of the bytes of each kept call [1].
    """

    divided: bool = False
    sent: float = 1.0


def report_of(
    signature: Signature,
    programs: Sequence[Program],
    scaling_factor: float,
    dropped: Sequence[tuple[str, int, float]],
    warnings: Sequence[str],
    dealers: Sequence[int] = (),
    quantities: KeptQuantities = KeptQuantities(),
) -> Report:
    """Compare a plan's programs with the application.

    Parameters
    ----------
    signature : Signature
    programs : sequence of Program
    scaling_factor : float
        K as asked for [1].
    dropped : sequence of (str, int, float)
        What planning left out: reason, calls, time [s].
    warnings : sequence of str
        What planning has to say.
    dealers : sequence of int
        Ranks that may deal out work.
    quantities : KeptQuantities
    """
    table = leaf_table(signature, programs, 1 / scaling_factor)
    fixed_ns = 0.0
    if quantities.divided:
        table, fixed_ns = _divided(table, 1 / scaling_factor)
    fraction = float(table.kept.sum() / max(table.calls.sum(), 1))
    classes = _classes(table, fraction)
    everything = (*signature.dropped, *dropped, *_too_rare(table))
    rank_s = signature.application_s * signature.ranks
    share = sum(time_s for _, _, time_s in everything) / rank_s if rank_s else 0.0
    not_computed = tuple(
        (what, min(time_s / rank_s, 1.0) if rank_s else 0.0)
        for what, time_s in signature.not_computed
    )
    expected_s = _expected_s(signature, programs, table)
    fixed_s = _application_part(signature, table, fixed_ns)
    good = largest_good_scaling_factor(signature)
    if scaling_factor > good and _has_whole_iteration(table, good):
        good = scaling_factor
    smallest_s = signature.application_s / good
    said = [*warnings, *_warnings(table, fraction)]
    said += [str(one) for one in unlike_doubts(signature.unseen, not_computed)]
    if scaling_factor > good:
        said.append(
            f"K = {scaling_factor:g} leaves less than one full iteration of the "
            f"dominant sequence: take K <= {good:g}, a skeleton of "
            f"{format_seconds(smallest_s)} and more"
        )
    said += _unmet(signature.application_s, scaling_factor, expected_s, fixed_s)
    if share > LEAST_DROPPED_WARNED:
        said.append(f"run time not represented in the skeleton: {share:.1%}")
    return Report(
        classes=classes,
        fraction=fraction,
        expected_s=expected_s,
        dropped_share=float(share),
        dropped=everything,
        merged=_merged(signature),
        smallest_good_s=smallest_s,
        largest_good_scaling_factor=good,
        warnings=tuple(said),
        dealers=tuple(dealers),
        not_computed=not_computed,
        fixed_s=fixed_s,
        compute_s=longest_compute_s(programs),
        divided=_division(quantities, fraction * scaling_factor),
    )


def _has_whole_iteration(table: LeafTable, good: float) -> bool:
    """Say whether each rank keeps all calls made so often as the dominant ones."""
    return not (table.kept[table.calls >= good] < 1).any()


def _unmet(
    application_s: float, scaling_factor: float, expected_s: float, fixed_s: float
) -> list[str]:
    """Say that a skeleton is not the K-th part, and what K could be."""
    wanted_s = application_s / scaling_factor
    if abs(expected_s - wanted_s) <= LARGEST_UNSAID_DEVIATION * wanted_s:
        return []
    text = (
        f"K = {scaling_factor:g} is not met: the skeleton takes "
        f"{format_seconds(expected_s)}, not {format_seconds(wanted_s)}"
    )
    if fixed_s <= 0:
        return [text]
    met = LARGEST_UNSAID_DEVIATION * application_s / fixed_s
    return [f"{text}: take K <= {met:.3g}"]


def _division(quantities: KeptQuantities, calls: float) -> str:
    """Say what became of computation and bytes, for people."""
    if not quantities.divided:
        return ""
    text = f"{calls:.3g} times 1/K of the calls, 1/K of the computation"
    if quantities.sent == 1:
        return f"{text}, messages whole"
    least = format_bytes(LEAST_DIVIDED_BYTES)
    return f"{text}, {quantities.sent:.2g} times the bytes of calls from {least} on"


def _divided(table: LeafTable, fraction: float) -> tuple[LeafTable, float]:
    """Return what calls take whose waits and bytes are divided, and what does not [ns].

    Time inside calls is waiting and transfer, up to a latency for each kept call.
    """
    in_proportion = table.mpi_ns * fraction
    mean = table.mpi_ns / np.maximum(table.calls, 1)
    least = table.kept * np.minimum(mean, LONGEST_LATENCY_NS)
    kept_mpi_ns = np.maximum(in_proportion, least)
    fixed_ns = float((kept_mpi_ns - in_proportion).sum())
    return replace(table, kept_mpi_ns=kept_mpi_ns), fixed_ns


def _classes(table: LeafTable, fraction: float) -> tuple[KeptClass, ...]:
    count = len(table.labels)
    ranks = int(table.rank.max(initial=0)) + 1
    place = table.label * ranks + table.rank

    def by_label(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.bincount(table.label, values, count), np.float64)

    target = np.bincount(place, table.calls, count * ranks) * fraction
    off = np.abs(np.bincount(place, table.kept, count * ranks) - target)
    error = (off / np.where(target > 0, target, 1)).reshape(count, ranks).max(axis=1)
    calls, kept = by_label(table.calls), by_label(table.kept)
    compute_s = by_label(table.compute_ns) / NS_PER_S
    kept_compute_s = by_label(table.kept_compute_ns) / NS_PER_S
    seconds = by_label(table.time_ns) / NS_PER_S
    kept_s = (
        kept_compute_s + by_label(table.kept_mpi_ns + table.kept_idle_ns) / NS_PER_S
    )
    order = sorted(range(count), key=lambda i: (-seconds[i], table.labels[i]))
    return tuple(
        KeptClass(
            label=table.labels[i],
            calls=int(calls[i]),
            kept=int(kept[i]),
            seconds=float(seconds[i]),
            kept_s=float(kept_s[i]),
            error=float(error[i]),
            compute_s=float(compute_s[i]),
            kept_compute_s=float(kept_compute_s[i]),
        )
        for i in order
    )


def _too_rare(table: LeafTable) -> list[tuple[str, int, float]]:
    """Return the calls whose whole coarse class was too rare to keep one.

    While they waited others computed, which the skeleton does as well.
    """
    kept = np.bincount(table.coarse, table.kept)
    lost = kept[table.coarse] == 0
    if not lost.any():
        return []
    calls = int(table.calls[lost].sum())
    return [("too rare to keep one", calls, float(table.own_ns[lost].sum()) / NS_PER_S)]


def _warnings(table: LeafTable, fraction: float) -> list[str]:
    """Name the class of many calls that is farthest from its target on a rank."""
    ranks = int(table.rank.max(initial=0)) + 1
    names, first, place = np.unique(
        table.symbol * ranks + table.rank, return_index=True, return_inverse=True
    )
    calls = np.bincount(place, table.calls, len(names))
    target = calls * fraction
    off = np.abs(np.bincount(place, table.kept, len(names)) - target)
    of_rank = np.bincount(table.rank, table.calls, ranks)
    excess = off - np.maximum(1.0, LARGEST_CLASS_DEVIATION * target) - 1e-6
    excess[calls <= LEAST_CLASS_SHARE * of_rank[names % ranks]] = 0
    worst = int(np.argmax(excess))
    if excess[worst] <= 0:
        return []
    return [
        f"{table.labels[table.label[first[worst]]]} on rank {names[worst] % ranks} "
        f"misses its target by {off[worst] / target[worst]:.1%}"
    ]


def _expected_s(
    signature: Signature, programs: Sequence[Program], table: LeafTable
) -> float:
    """Estimate the skeleton's time from the time that kept calls stand for [s]."""
    # What was attached to operations of no leaf, or behind the last call.
    kept_ns = sum(
        float((one.tail_ns + one.head_ns + one.tail_idle_ns).sum()) for one in programs
    )
    kept_ns += sum(
        float(series_sums(series.values, operation.occurrences).sum())
        for program in programs
        for operation in program.operations
        for series in (operation.compute_ns, operation.idle_ns)
    )
    return _application_part(signature, table, kept_ns + table.kept_mpi_ns.sum())


def _application_part(signature: Signature, table: LeafTable, time_ns: float) -> float:
    """Return what a time of all ranks together is of the application's time [s]."""
    tail_ns = sum(float(group.after_ns.sum()) for group in signature.groups)
    total_ns = float(table.time_ns.sum()) + tail_ns
    return signature.application_s * time_ns / total_ns if total_ns else 0.0


def _merged(signature: Signature) -> tuple[tuple[str, int, float], ...]:
    """List the computations that one average stands for, widest spread first."""
    uneven = uneven_leaves(signature)
    names: dict[int, str] = {}
    found: list[tuple[float, str, int, float]] = []
    for number, group in enumerate(signature.groups):
        spread = deviation(group).mean(axis=1)
        symbols = group.nest.symbol[group.nest.body_items == 0].tolist()
        for leaf, symbol in enumerate(symbols):
            calls = int(group.count[leaf]) * len(group.ranks)
            lost_s = float(spread[leaf]) / NS_PER_S
            if (number, leaf) not in uneven and lost_s > 0 and calls > 1:
                if symbol not in names:
                    names[symbol] = symbol_label(signature, symbol)
                label = f"computation before {names[symbol]}"
                found.append((lost_s * calls**0.5, label, calls, lost_s))
    least_s = LEAST_LISTED_SHARE * signature.application_s
    worth = sorted((entry for entry in found if entry[0] >= least_s), reverse=True)
    return tuple(entry[1:] for entry in worth[:_MERGED_LISTED])
