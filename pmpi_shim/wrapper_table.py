"""The table of MPI functions, mpi_calls.toml, as Python types."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("mpi_calls.toml")

#: Handles that wrappers take as a register-wide number when passed by value.
HANDLES = (
    "MPI_Comm MPI_Datatype MPI_Errhandler MPI_File MPI_Group MPI_Info MPI_Message "
    "MPI_Op MPI_Request MPI_Session MPI_Win"
).split()
#: Types that all MPI libraries declare; pointers to others become void *.
DECLARED = {*HANDLES, "MPI_Status", "MPI_Count", "MPI_Aint", "MPI_Offset", "MPI_Fint"}
DECLARED -= {"MPI_Session"}

#: What the id of a large-count twin is beyond that of its original.
LARGE = 1000

KINDS = {
    "local": "LOCAL",
    "passed": "OTHER",
    "other": "OTHER",
    "init": "INIT",
    "finalize": "FINALIZE",
    "send": "SEND",
    "receive": "RECEIVE",
    "sendrecv": "SENDRECV",
    "isend": "ISEND",
    "ireceive": "IRECEIVE",
    "send_init": "SEND_INIT",
    "receive_init": "RECEIVE_INIT",
    "start": "START",
    "complete": "COMPLETE",
    "probe": "PROBE",
    "collective": "COLLECTIVE",
    "icollective": "ICOLLECTIVE",
    "collective_init": "COLLECTIVE_INIT",
    "communicator": "COMMUNICATOR",
    "release": "RELEASE",
    "control": "CONTROL",
    "window": "WINDOW",
    "rma": "RMA",
    "sync": "SYNC",
    "file": "FILE",
    "io": "IO",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument: its C type, name with array brackets, and role in the record."""

    type: str
    name: str
    brackets: str
    role: str

    @property
    def by_value(self) -> bool:
        """Whether neither a pointer nor an array."""
        return not self.brackets and "*" not in self.type

    @property
    def c_type(self) -> str:
        """The type in the wrapper, which must do for every MPI library."""
        base = self.type.replace("const", "").replace("*", "").strip()
        if self.by_value:
            return "skelgen_word" if base in HANDLES else base
        if base.startswith("MPI_") and base not in DECLARED:
            return "void *"
        return re.sub(r"\s*(\*+)$", r" \1", self.type)

    @property
    def declaration(self) -> str:
        """Type and name as C wants them."""
        space = "" if self.c_type.endswith("*") else " "
        brackets = "" if self.c_type == "void *" else self.brackets
        return f"{self.c_type}{space}{self.name}{brackets}"


@dataclass(frozen=True, slots=True)
class Function:
    """One row of the table, or its large-count twin."""

    name: str
    id: int
    kind: str
    returns: str
    arguments: tuple[Argument, ...]

    def get(self, role: str) -> Argument | None:
        """Return the argument with a role, None when there is none."""
        return next((a for a in self.arguments if a.role == role), None)

    def __getitem__(self, role: str) -> Argument:
        """Return the argument with a role, which the table must have."""
        argument = self.get(role)
        if argument is None:
            raise SystemExit(f"{TABLE}: {self.name} has no argument with role {role}")
        return argument

    @property
    def large(self) -> bool:
        """Whether this is the large-count twin of another function."""
        return self.id > LARGE

    @property
    def short(self) -> str:
        """Name in lower case without MPI_, _init and _c: bcast, alltoallv."""
        return self.name.removeprefix("MPI_").removesuffix("_c").lower()

    @property
    def collective(self) -> str:
        """Name of the blocking collective that this is a form of, else empty."""
        if self.kind == "icollective":
            return self.short.removeprefix("i")
        if self.kind in ("collective", "collective_init"):
            return self.short.removesuffix("_init")
        return ""


def parse_argument(text: str, *, large: bool) -> Argument:
    """Read ``int | MPI_Count count : count_a``."""
    text, _, role = text.partition(" : ")
    match = re.fullmatch(r"(.*?)(\w+)((?:\[\d*\])*)", text.strip())
    if not match:
        raise SystemExit(f"{TABLE}: cannot read the argument {text!r}")
    types = [part.strip() for part in match[1].split("|")]
    return Argument(types[-1] if large else types[0], match[2], match[3], role)


def read_table() -> list[Function]:
    """Read all functions of the table, twins behind their originals."""
    functions = []
    table = tomllib.loads(TABLE.read_text())
    for name, row in table.items():
        if name == "unwrapped":
            continue
        for large in (False, True)[: 1 + row.get("large", False)]:
            arguments = tuple(parse_argument(a, large=large) for a in row["args"])
            functions.append(
                Function(
                    name + "_c" * large,
                    row["id"] + LARGE * large,
                    row["kind"],
                    row.get("returns", "int"),
                    arguments,
                )
            )
    ids = [f.id for f in functions]
    if len(set(ids)) != len(ids):
        raise SystemExit(f"{TABLE}: an id is used twice")
    return functions
