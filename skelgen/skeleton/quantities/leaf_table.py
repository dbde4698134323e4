"""Calls and times of every leaf on every rank, in the application and in a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, function_info
from skelgen.signature import RankGroup, Signature
from skelgen.signature.labels import symbol_label
from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.quantities.series import series_sums
from skelgen.skeleton.thresholds import LEAST_DIVIDED_BYTES, LONGEST_LATENCY_NS
from skelgen.skeleton.types import Program
from skelgen.units import format_bytes


@dataclass(frozen=True, slots=True)
class LeafTable:
    """Calls and times of every leaf on every rank, all groups below each other.

    `label` and `coarse` number the classes of `labels` and the coarse classes that
    rare calls are carried in; `symbol` is the row of the signature's symbols. `own_ns`
    is the part of `mpi_ns` that may be the calls' own: the rest is waiting.
    """

    labels: tuple[str, ...]
    symbol: NDArray[np.int64]
    label: NDArray[np.int64]
    coarse: NDArray[np.int64]
    rank: NDArray[np.int64]
    calls: NDArray[np.float64]
    kept: NDArray[np.float64]
    compute_ns: NDArray[np.float64]
    kept_compute_ns: NDArray[np.float64]
    mpi_ns: NDArray[np.float64]
    own_ns: NDArray[np.float64]
    kept_mpi_ns: NDArray[np.float64]
    idle_ns: NDArray[np.float64]
    kept_idle_ns: NDArray[np.float64]

    @property
    def time_ns(self) -> NDArray[np.float64]:
        """Return the time before and inside calls [ns]."""
        return self.compute_ns + self.mpi_ns + self.idle_ns


def leaf_table(
    signature: Signature, programs: Sequence[Program], fraction: float
) -> LeafTable:
    """Compare the calls and times of a plan's programs with the application's.

    Parameters
    ----------
    signature : Signature
    programs : sequence of Program
    fraction : float
        Part of the application that is to be kept [1].
    """
    labels: dict[str, int] = {}
    coarse: dict[tuple[int, ...], int] = {}
    rows: dict[tuple[int, float], tuple[int, int, int]] = {}
    numbers: list[tuple[int, int, int]] = []
    parts: list[NDArray[np.float64]] = []
    for number, group in enumerate(signature.groups):
        own_ns = _own_ns(signature, group)
        parts.append(_columns(group, programs, number, fraction, own_ns))
        count = np.maximum(group.count, 1)[:, np.newaxis]
        means = (group.size_bytes.total / count).mean(axis=1).tolist()
        symbols = leaf_symbols(group.nest).tolist()
        for symbol, mean in zip(symbols, means, strict=True):
            if (symbol, mean) not in rows:
                rows[symbol, mean] = (
                    symbol,
                    labels.setdefault(_label(signature, symbol, mean), len(labels)),
                    coarse.setdefault(_coarse(signature, symbol, mean), len(coarse)),
                )
            numbers += [rows[symbol, mean]] * len(group.ranks)
    values = np.concatenate(parts, axis=1)
    symbol, label, coarse_class = np.array(numbers, np.int64).reshape(-1, 3).T
    return LeafTable(
        labels=tuple(labels),
        symbol=symbol,
        label=label,
        coarse=coarse_class,
        rank=values[0].astype(np.int64),
        calls=values[1],
        kept=values[2],
        compute_ns=values[3],
        kept_compute_ns=values[4],
        mpi_ns=values[5],
        own_ns=values[6],
        kept_mpi_ns=values[7],
        idle_ns=values[8],
        kept_idle_ns=values[9],
    )


def _own_ns(signature: Signature, group: RankGroup) -> NDArray[np.float64]:
    """Return what the calls of each leaf and rank take at most without waiting [ns].

    Few bytes take a latency. So do calls that were asked for again and again until they
    could end. Of all others nobody knows, and all their time may be their own.
    """
    count = np.maximum(group.count, 1)[:, np.newaxis]
    kinds = np.array([function_info(name).kind for name in signature.functions])
    functions = signature.symbols["function"][leaf_symbols(group.nest)]
    completes = kinds[functions] == CallKind.COMPLETE
    few = group.size_bytes.total / count < LEAST_DIVIDED_BYTES
    waits = (few & ~completes[:, np.newaxis]) | (group.polls > 0)
    least = np.minimum(group.mpi_ns, count * float(LONGEST_LATENCY_NS))
    return np.where(waits, least, group.mpi_ns)


def _columns(
    group: RankGroup,
    programs: Sequence[Program],
    number: int,
    fraction: float,
    own_ns: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return rank, calls and times of all leaves and ranks of a group."""
    leaves, ranks = group.compute_ns.total.shape
    kept, kept_ns, kept_idle_ns = _kept(programs, number, group.ranks, leaves)
    calls = np.repeat(group.count[:, np.newaxis], ranks, axis=1).astype(np.float64)
    # The time inside a rare call is mostly waiting, which computation decides.
    often = calls * fraction >= 1
    share = np.where(often, kept / np.maximum(calls, 1), fraction)
    columns = (
        np.tile(np.array(group.ranks, np.float64), (leaves, 1)),
        calls,
        kept,
        group.compute_ns.total,
        kept_ns,
        group.mpi_ns,
        own_ns,
        group.mpi_ns * share,
        group.idle_ns,
        kept_idle_ns,
    )
    return np.stack([column.ravel() for column in columns])


def _kept(
    programs: Sequence[Program], number: int, ranks: Sequence[int], leaves: int
) -> NDArray[np.float64]:
    """Return kept calls, computation and sleep of each leaf and rank of a group."""
    found = np.zeros((3, leaves, len(ranks)))
    own = set(ranks)
    for program in programs:
        if program.ranks[0] not in own:
            continue
        columns = np.searchsorted(ranks, program.ranks)
        for operation in program.operations:
            if operation.group == number:
                often = operation.occurrences
                found[0, operation.leaf, columns] += often
                for row, series in enumerate((operation.compute_ns, operation.idle_ns)):
                    sums = series_sums(series.values, often)
                    found[row + 1, operation.leaf, columns] += sums
    return found


def _label(signature: Signature, symbol: int, mean_bytes: float) -> str:
    name = symbol_label(signature, symbol)
    size = 1 << max(round(mean_bytes) - 1, 0).bit_length()
    return f"{name}, up to {format_bytes(size)}" if mean_bytes >= 0.5 else name


def _coarse(signature: Signature, symbol: int, mean_bytes: float) -> tuple[int, ...]:
    row = signature.symbols[symbol]
    kind = function_info(signature.functions[row["function"]]).kind
    return int(kind), int(row["family"]), int(mean_bytes).bit_length()
