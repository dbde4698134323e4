"""What most files of a run define alike, read once: names, types, lists and vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from skelgen.trace.definition_types import FunctionDefinition, Ragged, TypeDefinition
from skelgen.trace.format import trace_format
from skelgen.trace.payload import Payload, PayloadError, once
from skelgen.trace.stream import FileBytes

_LARGEST_SIZE = 2**44
_MOST_FRAMES = 1024
_KEY_BYTES = 16
#: A definition record: where it and its payload begin, length of that [bytes], tag.
Record: TypeAlias = Sequence[int]
#: What reads the payload of a record, by its tag.
Readers: TypeAlias = dict[int, Callable[[Payload], None]]
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class NamedThings:
    """Functions, call sites and types by their numbers, as in `Definitions`."""

    functions: dict[int, FunctionDefinition]
    sites: dict[int, tuple[tuple[str, int], ...]]
    builds: dict[str, str]
    types: dict[int, TypeDefinition]


@dataclass(frozen=True, slots=True)
class NumberLists:
    """Lists of requests and vectors of counts, as in `Definitions`."""

    lists: Ragged
    vectors: Ragged


class NameReader:
    """Takes the records of functions, modules, call sites and types one by one."""

    def __init__(self) -> None:
        self.functions: dict[int, FunctionDefinition] = {}
        self.modules: dict[int, str] = {}
        self.builds: dict[str, str] = {}
        self.sites: dict[int, tuple[tuple[str, int], ...]] = {}
        self.types: dict[int, TypeDefinition] = {}

    def readers(self) -> Readers:
        """Return what reads its records."""
        return bound(self, _name_tags())

    def result(self) -> NamedThings:
        """Return what was taken so far."""
        return NamedThings(self.functions, self.sites, self.builds, self.types)

    def _function(self, payload: Payload) -> None:
        number, function = payload.whole(_read_function)
        once(self.functions, number, function)

    def _module(self, payload: Payload) -> None:
        number = payload.varint()
        path = payload.string()
        once(self.modules, number, path)
        if payload.more:
            self.builds[path] = payload.bytes().hex()

    def _site(self, payload: Payload) -> None:
        number, frames = payload.whole(_read_site)
        for module, _ in frames:
            if module not in self.modules:
                raise PayloadError(f"a call site in the undefined module {module}")
        named = tuple((self.modules[module], offset) for module, offset in frames)
        once(self.sites, number, named)

    def _type(self, payload: Payload) -> None:
        once(self.types, *payload.whole(_read_type))


class ListReader:
    """Takes the records of lists and vectors one by one."""

    def __init__(self) -> None:
        self.lists: list[NDArray[np.int64]] = []
        self.vectors: list[NDArray[np.int64]] = []

    def readers(self) -> Readers:
        """Return what reads its records."""
        return bound(self, _list_tags())

    def result(self) -> NumberLists:
        """Return what was taken so far."""
        return NumberLists(_ragged(self.lists), _ragged(self.vectors))

    def _list(self, payload: Payload) -> None:
        self.lists.append(payload.whole(_read_list))

    def _vector(self, payload: Payload) -> None:
        payload.varint()
        vector = payload.varints(payload.varint())
        if len(vector) and vector.max() > _LARGEST_SIZE:
            raise PayloadError(f"a count of {int(vector.max())}")
        self.vectors.append(vector)


class ReadOnce(Generic[_Result]):
    """What the records of some tags say, read once where files have the same bytes.

    Parameters
    ----------
    tags : set of int
    """

    def __init__(self, tags: set[int]) -> None:
        self._tags = tags
        self._known: dict[bytes, _Result] = {}

    def key(self, data: FileBytes, records: Sequence[Record]) -> bytes:
        """Return the digest of a file's records, with their tags and lengths."""
        digest = blake2b(digest_size=_KEY_BYTES)
        for offset, begin, length, tag in records:
            if tag in self._tags:
                digest.update(data[offset : begin + length])
        return digest.digest()

    def get(self, key: bytes) -> _Result | None:
        """Return what such records say, where a file had them before."""
        return self._known.get(key)

    def add(self, key: bytes, result: _Result) -> None:
        """Note what sound records say; all files share it, so nobody changes it."""
        self._known[key] = result


class SharedDefinitions:
    """What the files of a run that were read so far define alike."""

    def __init__(self) -> None:
        self.names: ReadOnce[NamedThings] = ReadOnce(set(_name_tags()))
        self.lists: ReadOnce[NumberLists] = ReadOnce(set(_list_tags()))


def bound(reader: Any, names: dict[int, str]) -> Readers:
    """Return the methods of a reader by the tags of their records."""
    return {tag: getattr(reader, name) for tag, name in names.items()}


@cache
def _name_tags() -> dict[int, str]:
    return {
        trace_format()[f"REC_{name.upper()}"]: f"_{name}"
        for name in ("function", "module", "site", "type")
    }


@cache
def _list_tags() -> dict[int, str]:
    return {
        trace_format()[f"REC_{name.upper()}"]: f"_{name}" for name in ("list", "vector")
    }


def _read_function(payload: Payload) -> tuple[int, FunctionDefinition]:
    number, name = payload.varint(), payload.string()
    kind = trace_format().name("function_kind", payload.varint())
    if not name.startswith("MPI_") or not name.isidentifier():
        raise PayloadError(f"a function named {name[:40]!r}")
    return number, FunctionDefinition(name, kind)


def _read_site(payload: Payload) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Read a site and its frames: numbers of modules, and offsets in them."""
    number = payload.varint()
    frames = [(payload.varint(), payload.varint())]
    if payload.more:
        callers = payload.varint(_MOST_FRAMES)
        frames += [(payload.varint(), payload.varint()) for _ in range(callers)]
    return number, tuple(frames)


def _read_type(payload: Payload) -> tuple[int, TypeDefinition]:
    number, size = payload.varint(), payload.varint(_LARGEST_SIZE)
    payload.zigzag()  # lower bound
    payload.zigzag()  # extent
    predefined = payload.varint() == trace_format()["TYPE_NAMED"]
    contiguous = bool(payload.varint())
    name = payload.string()
    piece_bytes = payload.varint(_LARGEST_SIZE) if payload.more else 0
    return number, TypeDefinition(size, name, contiguous, predefined, piece_bytes)


def _read_list(payload: Payload) -> NDArray[np.int64]:
    payload.varint()  # the kernel has checked that it is the next one
    steps = payload.zigzags(payload.varint())
    if len(steps) and np.abs(steps).max() > 2**32:
        raise PayloadError(f"an age of {int(np.abs(steps).max())} requests")
    ages: NDArray[np.int64] = np.cumsum(steps)
    return ages


def _ragged(rows: list[NDArray[np.int64]]) -> Ragged:
    first = np.fromiter(accumulate(map(len, rows), initial=0), np.int64)
    values = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return Ragged(first, values.astype(np.int64, copy=False))
