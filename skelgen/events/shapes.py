"""From the call shapes of the files to one table of shapes for all ranks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events.communicators import Communicators
from skelgen.events.elements import common_bytes, element_bytes, piece_bytes
from skelgen.events.epochs import on_window
from skelgen.events.functions import (
    COLLECTIVES,
    RECEIVING,
    SENDING,
    CallKind,
    FunctionInfo,
    function_info,
)
from skelgen.events.rows import copied_rows, joined_rows
from skelgen.events.sizes import set_own_ranks, set_sizes
from skelgen.events.types import (
    AMID_WORK,
    FAILED_POLL,
    HOLES,
    IN_PLACE,
    NO_COMMUNICATOR,
    NO_PEER,
    NO_TAG,
    PROC_NULL,
    SHAPE_DTYPE,
    WILDCARD_SOURCE,
    WILDCARD_TAG,
)
from skelgen.trace import RankFile
from skelgen.trace.format import trace_format

UNKNOWN_SITE = "unknown"
#: Stands between a call site and the one that called it.
CALLED_BY = " < "
_FAILED = " (failed)"
_LARGEST = 2**31 - 1
_BEGINS = ("init", "init_thread", "session_init")
_ENDS = ("finalize", "session_finalize")
_WITH_PEER = (
    *SENDING,
    *RECEIVING,
    *COLLECTIVES,
    CallKind.PROBE,
    CallKind.UNSUPPORTED,
    CallKind.RMA,
    CallKind.SIGNAL,
    CallKind.AWAIT,
)
_BITS = {
    "WILD_SOURCE": WILDCARD_SOURCE,
    "WILD_TAG": WILDCARD_TAG,
    "IN_PLACE": IN_PLACE,
    "NOT_READY": FAILED_POLL,
}


def site_name(frames: Iterable[tuple[str, int]]) -> str:
    """Name a call site by its frames; hosts may have the module elsewhere."""
    names = (f"{PurePosixPath(module).name}+{at:#x}" for module, at in frames)
    return CALLED_BY.join(names)


@dataclass(slots=True)
class Names:
    """Functions and call sites of all files, numbered as they appear."""

    functions: dict[str, int] = field(default_factory=dict)
    sites: dict[str, int] = field(default_factory=lambda: {UNKNOWN_SITE: 0})
    #: What shapes mean, by all that it depends on: most ranks define the same.
    meanings: dict[Hashable, _Meaning] = field(default_factory=dict)
    #: Numbers of what files define, and of the same by the identity of its parts.
    defined: dict[Hashable, int] = field(default_factory=dict)
    seen: dict[tuple[int, ...], tuple[int, tuple[object, ...]]] = field(
        default_factory=dict
    )

    def function(self, name: str) -> int:
        """Return the number of a function."""
        return self.functions.setdefault(name, len(self.functions))

    def site(self, frames: tuple[tuple[str, int], ...]) -> int:
        """Return the number of a call site."""
        return self.sites.setdefault(site_name(frames), len(self.sites))

    def definitions(self, file: RankFile) -> int:
        """Return a number of the functions, types and call sites of a file."""
        known = file.definitions
        parts = (known.functions, known.types, known.sites)
        identity = tuple(map(id, parts))
        if identity not in self.seen:
            content = tuple(tuple(part.items()) for part in parts)
            number = self.defined.setdefault(content, len(self.defined))
            self.seen[identity] = number, parts  # which keeps them, and their identity
        return self.seen[identity][0]


@dataclass(frozen=True, slots=True, eq=False)
class FileShapes:
    """What the shapes of one file mean.

    Attributes
    ----------
    raw : structured array
        The kernel's shapes with their rules for sizes.
    rows : (shapes,) SHAPE_DTYPE array
        What does not vary in a shape.
    action : (shapes,) uint8 array
        What a call does with requests, ``enum skelgen_action``.
    names : tuple of str
        Function of each shape, see `plain_name`.
    peers : (shapes,) int32 array
        How many ranks a peer can be; 0: the call has none.
    begins, ends, controls : (shapes,) bool arrays
        MPI_Init, MPI_Finalize and MPI_Pcontrol.
    windows : bool
        Whether some are calls on windows.
    """

    raw: NDArray[np.void]
    rows: NDArray[np.void]
    action: NDArray[np.uint8]
    names: tuple[str, ...]
    peers: NDArray[np.int32]
    begins: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    controls: NDArray[np.bool_]
    windows: bool


def joined(shapes: Sequence[FileShapes]) -> FileShapes:
    """Join what the shapes of some files mean."""
    if len(shapes) == 1:
        return shapes[0]
    arrays = ("action", "peers", "begins", "ends", "controls")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in shapes]) for name in arrays
    }
    for name in ("raw", "rows"):
        columns[name] = joined_rows([getattr(one, name) for one in shapes])
    return FileShapes(
        names=tuple(chain(*(one.names for one in shapes))),
        windows=any(one.windows for one in shapes),
        **columns,
    )


def plain_name(function: str) -> str:
    """Name the blocking form of a function, in lower case and without ``MPI_``.

    Examples
    --------
    >>> plain_name("MPI_Ialltoallv_c")
    'alltoallv'
    """
    name = function_info(function).collective or function.removeprefix("MPI_")
    return name.removesuffix("_c").lower()


@dataclass(frozen=True, slots=True, eq=False)
class _Meaning:
    """What the shapes of a file mean, whatever its communicators and vectors are.

    Columns as in `FileShapes`; `alone` says which calls have no peer.
    """

    raw: NDArray[np.void]
    rows: NDArray[np.void]
    action: NDArray[np.uint8]
    names: tuple[str, ...]
    alone: NDArray[np.bool_]
    begins: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    controls: NDArray[np.bool_]
    windows: bool


#: Columns of the kernel's shapes that a meaning depends on, and those that it sets.
_MEANS = ("function", "flags", "type_a", "type_b", "site", "op")
_SET = ("bytes_a", "bytes_b", "rule")


def interpret(
    file: RankFile, index: dict[int, int], communicators: Communicators, names: Names
) -> FileShapes:
    """Work out what the shapes of a file mean.

    Parameters
    ----------
    file : RankFile
    index : dict of int to int
        From the file's communicators to rows of the table.
    communicators : Communicators
    names : Names
        Extended here.
    """
    shapes = file.shapes
    key = (
        names.definitions(file),
        *(shapes[column].tobytes() for column in _MEANS),
    )
    if key not in names.meanings:
        names.meanings[key] = _meaning(file, names)
    meaning = names.meanings[key]
    raw, rows = copied_rows(shapes), copied_rows(meaning.rows)
    for column in _SET:
        raw[column] = meaning.raw[column]
    set_own_ranks(file, raw)
    rows["communicator"] = _mapped(raw["comm"], index, NO_COMMUNICATOR)
    for row in np.flatnonzero(flagged(raw, "HOLES")).tolist():
        rows["datatype_bytes"][row] = common_bytes(file, raw[row])
    peers = communicators.peers[rows["communicator"]]
    peers[meaning.alone] = 0
    return FileShapes(
        raw=raw,
        rows=rows,
        action=meaning.action,
        names=meaning.names,
        peers=peers,
        begins=meaning.begins,
        ends=meaning.ends,
        controls=meaning.controls,
        windows=meaning.windows,
    )


def _meaning(file: RankFile, names: Names) -> _Meaning:
    """Work out what depends on functions, types and call sites only."""
    raw = file.shapes.copy()
    functions = _functions(file)
    infos = [function_info(name) for name in functions]
    plain = tuple(plain_name(name) for name in functions)
    set_sizes(file, raw, infos, plain)
    rows = np.zeros(len(raw), SHAPE_DTYPE)
    rows["function"] = [names.function(name) for name in functions]
    for flag, bit in _BITS.items():
        rows["flags"][flagged(raw, flag)] |= bit
    rows["flags"][_with_holes(file, infos)] |= HOLES
    rows["op"] = np.minimum(raw["op"], _LARGEST)
    rows["datatype_bytes"] = element_bytes(file, raw)
    rows["piece_bytes"] = np.where(rows["flags"] & HOLES, piece_bytes(file, raw), 0)
    sites = {n: names.site(site) for n, site in file.definitions.sites.items()}
    rows["site"] = _mapped(raw["site"], sites, 0)
    return _Meaning(
        raw=raw,
        rows=rows,
        action=_actions(raw, infos),
        names=plain,
        alone=np.array([info.kind not in _WITH_PEER for info in infos], bool),
        begins=np.array([name in _BEGINS for name in plain], bool),
        ends=np.array([name in _ENDS for name in plain], bool),
        controls=np.array([name == "pcontrol" for name in plain], bool),
        windows=any(on_window(name) for name in functions),
    )


def flagged(raw: NDArray[np.void], name: str) -> NDArray[np.bool_]:
    """Say which of the kernel's shapes have a flag."""
    flags: NDArray[np.uint32] = raw["flags"]
    has: NDArray[np.bool_] = (flags & trace_format()[f"SHAPE_{name}"]) != 0
    return has


def _with_holes(file: RankFile, infos: list[FunctionInfo]) -> NDArray[np.bool_]:
    """Say which shapes are messages that do not lie in one piece in memory.

    MPI gathers them in other ways than the rest, often with more meetings.
    """
    types = file.definitions.types
    holed = [number for number, one in types.items() if not one.contiguous]
    raw = file.shapes
    found: NDArray[np.bool_] = np.isin(raw["type_a"], holed)
    found |= np.isin(raw["type_b"], holed)
    found |= flagged(raw, "HOLES")
    kinds = (*SENDING, *RECEIVING, *COLLECTIVES)
    found &= np.array([i.kind in kinds and not i.reduces for i in infos], bool)
    return found


def _functions(file: RankFile) -> list[str]:
    """Name the function of each shape; a failed call is a function of its own."""
    defined = file.definitions.functions
    failed = flagged(file.shapes, "FAILED") & ~flagged(file.shapes, "COMPLETES")
    return [
        defined[int(number)].name + (_FAILED if has_failed else "")
        for number, has_failed in zip(file.shapes["function"], failed, strict=True)
    ]


def _mapped(
    numbers: NDArray[np.integer], table: dict[int, int], default: int
) -> NDArray[np.int64]:
    known = [table.get(number, default) for number in numbers.tolist()]
    return np.array(known, np.int64)


def _actions(raw: NDArray[np.void], infos: list[FunctionInfo]) -> NDArray[np.uint8]:
    from skelgen._kernels._requests import lib

    action = np.zeros(len(raw), np.uint8)
    action[flagged(raw, "CREATES")] |= lib.SKELGEN_ACTION_CREATES
    action[flagged(raw, "PERSISTENT")] |= lib.SKELGEN_ACTION_PERSISTENT
    action[flagged(raw, "STARTS")] |= lib.SKELGEN_ACTION_STARTS
    ends = flagged(raw, "COMPLETES") | flagged(raw, "RELEASES")
    action[ends] |= lib.SKELGEN_ACTION_ENDS
    creates = np.array([info.creates for info in infos], bool)
    action[creates] |= lib.SKELGEN_ACTION_NEW
    lasting = np.array([info.persistent for info in infos], bool)
    action[lasting] |= lib.SKELGEN_ACTION_LASTING
    return action


def variant_rows(
    shapes: FileShapes, variants: NDArray[np.void]
) -> tuple[NDArray[np.void], NDArray[np.bool_]]:
    """Write down what the variants of a file's shapes mean.

    Parameters
    ----------
    shapes : FileShapes
    variants : structured array
        Of the decoder.

    Returns
    -------
    rows : (variants,) SHAPE_DTYPE array
    wrong : (variants,) bool array
        Variants that name a rank outside of their communicator; their partner
        becomes PROC_NULL.
    """
    rows = shapes.rows.take(variants["shape"])
    peers = shapes.peers.take(variants["shape"])
    wrong = np.zeros(len(rows), bool)
    for column in ("peer", "peer2"):
        rows[column], outside = checked_peers(variants[column], peers)
        wrong |= outside
    for column in ("tag", "tag2"):
        rows[column] = np.maximum(variants[column], NO_TAG)
    rows["flags"][variants["amid_work"] != 0] |= AMID_WORK
    return rows, wrong


def checked_peers(
    recorded: NDArray[np.int32], peers: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Turn recorded ranks into peers; those that cannot be become PROC_NULL."""
    constants = trace_format()
    result = recorded.copy()
    none = (recorded == constants["ANY_SOURCE"]) | (peers == 0)
    result[none] = NO_PEER
    codes = (
        (recorded == constants["NO_PEER"])
        | (recorded == constants["PROC_NULL"])
        | (recorded == constants["ROOT"])
    )
    wrong = ~none & ~codes & ((recorded < 0) | (recorded >= peers))
    result[wrong] = PROC_NULL
    return result, wrong
