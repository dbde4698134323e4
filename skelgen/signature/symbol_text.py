"""Symbols as lines such as ``MPI_Isend peer=+1 tag=0 family=0 element=8 site=2``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.document_field import Field
from skelgen.documents.numbers import (
    NumberError,
    format_integers,
    integer,
    listed,
    stretches,
)
from skelgen.events import CallKind, function_info
from skelgen.events.functions import COLLECTIVES, TWO_SIDED, WITH_PARTNERS
from skelgen.events.types import (
    HOLES,
    IN_PLACE,
    NO_PEER,
    NO_TAG,
    PROC_NULL,
    WILDCARD_SOURCE,
    WILDCARD_TAG,
)
from skelgen.signature.types import CommunicatorFamily, Signature
from skelgen.symbols.pairs import ON_REQUESTS, PARTNER_KINDS
from skelgen.symbols.types import ALL_OUTSTANDING, SYMBOL_DTYPE, VARYING

_FLAGS = {
    "any_source": WILDCARD_SOURCE,
    "any_tag": WILDCARD_TAG,
    "in_place": IN_PLACE,
    "holes": HOLES,
}
_CODES = {"nobody": PROC_NULL, "varying": VARYING}
#: Ages of a completion of all that is outstanding.
_ALL = "all"
_LARGEST = (1 << 31) - 1
#: Words with a plain number: column, what it is when the word is missing, least.
_PLAIN = {
    "tag": ("tag", NO_TAG, 0),
    "source_tag": ("tag2", NO_TAG, 0),
    "family": ("family", -1, 0),
    "element": ("datatype_bytes", 0, 0),
    "piece": ("piece_bytes", 0, 0),
    "op": ("op", 0, -_LARGEST),
    "site": ("site", None, 0),
    "class": ("size_class", -1, 0),
}
_WITH_SYMBOLS = {*PARTNER_KINDS, *ON_REQUESTS, *COLLECTIVES, *WITH_PARTNERS}
#: Requests that one call completes.
_MOST_AGES = 10_000_000


def symbol_names(signature: Signature) -> list[str]:
    """Name the symbols, shortly and each differently.

    Returns
    -------
    list of str
        Such as ``isend+1``, ``recv_varying``, ``bcast@2`` on family 2, ``waitall.2``
        for the second.
    """
    used: dict[str, int] = {}
    names = []
    for row in signature.symbols:
        function = signature.functions[row["function"]]
        name = function.removeprefix("MPI_").lower()
        family, peer = int(row["family"]), int(row["peer"])
        if function_info(function).kind in PARTNER_KINDS and peer != NO_PEER:
            text = _format_peer(peer, signature.families, family)
            name += f"_{text}" if peer in _CODES.values() else text
        name += f"@{family}" if family > 0 else ""
        used[name] = used.get(name, 0) + 1
        names.append(name if used[name] == 1 else f"{name}.{used[name]}")
    return names


def symbol_lines(signature: Signature) -> list[str]:
    """Write the symbols, one line each."""
    return [_line(signature, row) for row in signature.symbols]


def _line(signature: Signature, row: np.void) -> str:
    function = signature.functions[row["function"]]
    words = [function]
    family = int(row["family"])
    if function_info(function).kind in PARTNER_KINDS:
        for word, column in (("peer", "peer"), ("source", "peer2")):
            peer = int(row[column])
            if peer != NO_PEER:
                text = _format_peer(peer, signature.families, family)
                words.append(f"{word}={text}")
    elif int(row["peer"]) != NO_PEER:
        words.append(f"root={int(row['peer'])}")
    for word, (column, missing, _) in _PLAIN.items():
        if int(row[column]) != missing:
            words.append(f"{word}={int(row[column])}")
    flags = [name for name, bit in _FLAGS.items() if int(row["flags"]) & bit]
    if flags:
        words.append(f"flags={','.join(flags)}")
    first = signature.age_first[row["ages"] : int(row["ages"]) + 2].tolist()
    ages = signature.age_values[slice(*first)].tolist()
    if ages:
        word = "partners" if function_info(function).kind in WITH_PARTNERS else "ages"
        text = format_integers(ages).replace(" ", ",")
        every = word == "ages" and ages == [ALL_OUTSTANDING]
        words.append(f"{word}={_ALL if every else text}")
    return " ".join(words)


def _format_peer(peer: int, families: Sequence[CommunicatorFamily], family: int) -> str:
    for name, code in _CODES.items():
        if peer == code:
            return name
    size = len(families[family].instances[0])
    return f"-{size - peer}" if size // 2 < peer < size else f"+{peer}"


class SymbolReader:
    """Reads the symbols of a document and collects what they share."""

    def __init__(self, families: tuple[CommunicatorFamily, ...], sites: int) -> None:
        self.families = families
        self.sites = sites
        self.sizes = [max(map(len, f.instances), default=0) for f in families]
        self.functions: dict[str, int] = {}
        self.ages: dict[tuple[int, ...], int] = {(): 0}
        self.rows: list[tuple[int, ...]] = []

    def read(self, field: Field) -> None:
        """Read one line."""
        function, *words = field.text().split() or [""]
        kind = function_info(function).kind
        if kind not in _WITH_SYMBOLS or not function.startswith("MPI_"):
            raise field.error(
                f"read {function[:60]!r}, expected an MPI function that communicates"
            )
        given: dict[str, str] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or key in given:
                raise field.error(f"read {word[:60]!r}, expected words such as tag=0")
            given[key] = value
        try:
            self.rows.append(self._row(field, function, given))
        except NumberError as error:
            raise field.error(str(error)) from error

    def _row(
        self, field: Field, function: str, given: dict[str, str]
    ) -> tuple[int, ...]:
        number = self.functions.setdefault(function, len(self.functions))
        row = {
            "function": number, "flags": 0, "peer": NO_PEER, "peer2": NO_PEER,
        }  # fmt: skip
        for word, (column, missing, least) in _PLAIN.items():
            text = given.pop(word, None)
            if text is None and missing is None:
                raise NumberError(f"the word {word}= is missing")
            row[column] = (
                _of_word(word, text, least, self._most(word)) if text else missing or 0
            )
        kind = function_info(function).kind
        row["flags"] = _read_flags(given.pop("flags", ""))
        word = "partners" if kind in WITH_PARTNERS else "ages"
        row["ages"] = self._read_ages(field, kind, word, given.pop(word, ""))
        self._read_peers(kind, given, row)
        if given:
            word = next(iter(given))
            raise NumberError(f"read {word[:60]!r}=, which {function} does not have")
        if (kind in ON_REQUESTS) != (row["family"] < 0):
            raise NumberError(
                f"{function} {'has no' if kind in ON_REQUESTS else 'needs a'} family"
            )
        if (kind in ON_REQUESTS) != (row["ages"] > 0) and kind not in WITH_PARTNERS:
            raise NumberError(
                f"{function} {'needs' if kind in ON_REQUESTS else 'has no'} ages"
            )
        return tuple(row[name] for name in SYMBOL_DTYPE.names or ())

    def _most(self, word: str) -> int:
        limits = {"family": len(self.families) - 1, "site": self.sites - 1}
        return limits.get(word, _LARGEST)

    def _read_ages(self, field: Field, kind: CallKind, word: str, text: str) -> int:
        if word == "ages" and text == _ALL:
            if kind is not CallKind.COMPLETE:
                raise NumberError(f"ages: read {_ALL}, which only a completion has")
            return self.ages.setdefault((ALL_OUTSTANDING,), len(self.ages))
        least = 0 if word == "partners" else -_LARGEST
        try:
            found = stretches(text, least, _LARGEST, _MOST_AGES)
        except NumberError as error:
            raise NumberError(f"{word}: {error}") from error
        field.take(40 * sum(times for _, _, times in found), word)
        ages = tuple(listed(found))
        if word == "ages" and 0 in ages:
            raise NumberError("ages: read 0, expected 1 for the latest request")
        if kind is CallKind.START and max(ages, default=-1) > 0:
            raise NumberError(
                f"ages: read {max(ages)}, expected -1 for the latest persistent request"
            )
        return self.ages.setdefault(ages, len(self.ages))

    def _read_peers(
        self, kind: CallKind, given: dict[str, str], row: dict[str, int]
    ) -> None:
        family = row["family"]
        size = self.sizes[family] if family >= 0 else 0
        if kind not in PARTNER_KINDS:
            if root := given.pop("root", ""):
                row["peer"] = _of_word("root", root, 0, size - 1)
            return
        wanted = ["peer", "source"] if kind in TWO_SIDED else ["peer"]
        for word, column in zip(wanted, ("peer", "peer2"), strict=False):
            text = given.pop(word, None)
            if text is None and kind is CallKind.RMA:
                continue  # it is about all ranks of the window
            if text is None:
                raise NumberError(f"the word {word}= is missing")
            row[column] = self._read_peer(word, text, family, size)

    def _read_peer(self, word: str, text: str, family: int, size: int) -> int:
        if text in _CODES:
            return _CODES[text]
        if text[:1] not in ("+", "-"):
            raise NumberError(
                f"{word}: read {text[:60]!r}, expected +1, -1, nobody or varying"
            )
        peer = _of_word(word, text, -_LARGEST, _LARGEST)
        if family >= 0 and text[0] == "-":
            peer += len(self.families[family].instances[0])
        if not 0 <= peer < max(size, 1):
            raise NumberError(f"{word}: read {text}, but its family has {size} ranks")
        return peer

    def table(self) -> NDArray[np.void]:
        """Return the symbols that were read."""
        return np.array(self.rows, SYMBOL_DTYPE)

    def age_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the columns ``age_first`` and ``age_values``."""
        lengths = [len(row) for row in self.ages]
        values = [age for row in self.ages for age in row]
        return np.cumsum([0, *lengths], dtype=np.int64), np.array(values, np.int64)


def _of_word(word: str, text: str, least: int, most: int) -> int:
    try:
        return integer(text, least, most)
    except NumberError as error:
        raise NumberError(f"{word}: {error}") from error


def _read_flags(text: str) -> int:
    flags = 0
    for name in text.split(",") if text else ():
        if name not in _FLAGS:
            raise NumberError(
                f"flags: read {name[:60]!r}, expected {', '.join(_FLAGS)}"
            )
        flags |= _FLAGS[name]
    return flags
