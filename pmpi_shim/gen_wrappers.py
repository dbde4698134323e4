"""Write the MPI wrappers of the shim from mpi_calls.toml (standard library only).

Usage::

    gen_wrappers.py probe FILE.c
    gen_wrappers.py wrappers FILE.c --available NAMES

The first program prints the path of the MPI library and the names of those functions of
the table that it has; the second file holds a wrapper for each of them. The Makefile
runs both.
"""

from __future__ import annotations

import argparse
import json
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
#: Types that every MPI library since MPI-3.0 declares; pointers to others become void *.
DECLARED = {*HANDLES, "MPI_Status", "MPI_Count", "MPI_Aint", "MPI_Offset", "MPI_Fint"}
DECLARED -= {"MPI_Session"}

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

    def __getitem__(self, role: str) -> Argument | None:
        """Return the argument with a role, None when there is none."""
        return next((a for a in self.arguments if a.role == role), None)

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
                    row["id"] + 1000 * large,
                    row["kind"],
                    row.get("returns", "int"),
                    arguments,
                )
            )
    ids = [f.id for f in functions]
    if len(set(ids)) != len(ids):
        raise SystemExit(f"{TABLE}: an id is used twice")
    return functions


# --- the pieces of a wrapper -------------------------------------------------------------

#: Communicator-making functions and what they make.
MAKES = {
    "comm_dup": "DUP",
    "comm_dup_with_info": "DUP",
    "comm_split": "SPLIT",
    "comm_split_type": "SPLIT_TYPE",
    "comm_create": "CREATE",
    "comm_create_group": "CREATE_GROUP",
    "cart_create": "CART",
    "cart_sub": "CART_SUB",
    "graph_create": "GRAPH",
    "dist_graph_create": "DIST_GRAPH",
    "dist_graph_create_adjacent": "DIST_GRAPH",
    "intercomm_create": "INTER",
    "intercomm_merge": "MERGE",
}


class Wrapper:
    """Collects the statements of one wrapper, by place."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.before: list[str] = []  # before the time is taken
        self.after: list[str] = []  # after the call, in order
        self.success: list[str] = []  # only where the call returned MPI_SUCCESS
        self.last: list[str] = []  # after the event
        self.flags: list[str] = []
        self.uses: list[str] = []
        self.fields: dict[str, str] = {}
        self.general = False  # vectors and the like: not for the fast path

    def field(self, name: str, value: str, *uses: str) -> None:
        """Set a field of the call and note that this function has it."""
        self.fields[name] = value
        self.uses += [f"SKELGEN_USES_{u}" for u in uses]

    def flag(self, *flags: str) -> None:
        """Set flags of the shape."""
        self.flags += [f"SKELGEN_SHAPE_{f}" for f in flags]


def handle(argument: Argument) -> str:
    """Return the argument's handle as a number."""
    base = argument.type.replace("const", "").strip(" *")
    return f"(uint64_t)(uintptr_t)({base}){argument.name}"


def plain_fields(w: Wrapper) -> None:
    """Take over counts, types, communicator, peer, tag, operation."""
    f = w.function
    if (a := f["comm"]) and a.by_value:
        w.field("comm", handle(a), "COMM")
    for side in "ab":
        if a := f[f"count_{side}"]:
            w.field(f"count_{side}", a.name, side.upper() if side == "b" else "COUNT_A")
            w.flag(f"HAS_{side.upper()}")
        if a := f[f"type_{side}"]:
            w.field(f"type_{side}", handle(a), side.upper())
    if a := f["peer"]:
        w.field("peer", f"skelgen_peer({a.name})", "PEER")
    if a := f["tag"]:
        w.field("tag", f"skelgen_tag({a.name})", "PEER")
    if a := f["peer2"]:
        w.field("peer2", f"skelgen_peer({a.name})", "PEER2")
    if a := f["tag2"]:
        w.field("tag2", f"skelgen_tag({a.name})", "PEER2")
    if a := f["op"]:
        w.field("op", handle(a), "OP")


def wildcards(w: Wrapper, *, returns_message: bool, condition: str = "") -> None:
    """Note wildcards; a call that returns the message states what it really was."""
    f = w.function
    second = f["peer2"] is not None
    source, tag = (f["peer2"], f["tag2"]) if second else (f["peer"], f["tag"])
    status = f["status"]
    if not source or not tag:
        return
    w.before.append(f"bool any_source = {source.name} == MPI_ANY_SOURCE;")
    w.before.append(f"bool any_tag = {tag.name} == MPI_ANY_TAG;")
    w.after.append("if (any_source)\n\t\tcall.flags |= SKELGEN_SHAPE_WILD_SOURCE;")
    w.after.append("if (any_tag)\n\t\tcall.flags |= SKELGEN_SHAPE_WILD_TAG;")
    if not returns_message or not status:
        return
    w.before.append("MPI_Status own_status;")
    w.before.append(
        f"if ((any_source || any_tag) && {status.name} == MPI_STATUS_IGNORE)\n"
        f"\t\t{status.name} = &own_status;"
    )
    digit = "2" if second else ""
    lines = [
        f"call.peer{digit} = skelgen_peer({status.name}->MPI_SOURCE);",
        f"call.tag{digit} = skelgen_tag({status.name}->MPI_TAG);",
    ]
    w.success.append(
        f"if ((any_source || any_tag){condition}) {{\n\t\t\t"
        + "\n\t\t\t".join(lines)
        + "\n\t\t}"
    )


def creates(w: Wrapper, flags: str = "0") -> None:
    """Number the request that the call made."""
    request = w.function["request"]
    assert request
    persistent = w.function.name.removesuffix("_c").endswith("_init")
    if persistent:
        flags = f"SKELGEN_REQUEST_PERSISTENT | ({flags})"
    w.success.append(
        f"skelgen_request_created(s, (uint64_t)(uintptr_t)*{request.name}, {flags});"
    )
    w.success.append(
        f"call.flags |= SKELGEN_SHAPE_{'PERSISTENT' if persistent else 'CREATES'};"
    )


def message(w: Wrapper) -> None:
    """Sends and receives, blocking, nonblocking and persistent."""
    f = w.function
    plain_fields(w)
    watched = "0"
    if f.kind in ("receive", "ireceive", "receive_init", "sendrecv", "other"):
        wildcards(w, returns_message=f.kind in ("receive", "sendrecv"))
        if f.kind in ("ireceive", "receive_init", "other") and (f["peer"] and f["tag"]):
            watched = "any_source || any_tag ? SKELGEN_REQUEST_WATCHED : 0"
    if a := f["message"]:
        w.before.append(f"MPI_Message matched = *{a.name};")
        w.after.append("skelgen_message_taken(matched, &call);")
        w.general = True
    if f["request"]:
        creates(w, watched)


def probe(w: Wrapper) -> None:
    """Probe, Iprobe and their matched forms."""
    f = w.function
    plain_fields(w)
    flag, status, found = f["flag"], f["status"], f["message"]
    assert status
    wildcards(w, returns_message=True, condition=f" && *{flag.name}" if flag else "")
    if flag:
        w.success.append(
            f"if (!*{flag.name})\n\t\t\tcall.flags |= SKELGEN_SHAPE_NOT_READY;"
        )
    if found:
        condition = f"if (*{flag.name})\n\t\t\t" if flag else ""
        comm = f["comm"]
        assert comm
        w.success.append(
            f"{condition}skelgen_message_made(*{found.name}, (MPI_Comm){comm.name}, "
            f"{status.name}->MPI_SOURCE, {status.name}->MPI_TAG);"
        )
        w.before.append(
            f"if ({status.name} == MPI_STATUS_IGNORE)\n\t\t{status.name} = &own_status;"
        )


def completion(w: Wrapper) -> None:
    """Wait, Test and their forms for several requests."""
    f = w.function
    test, form = f.short[:4] == "test", f.short[4:]
    flag, status, statuses = f["flag"], f["status"], f["statuses"]
    w.flag("COMPLETES", "HAS_A")
    w.field("reference", "0", "REFERENCE")
    done: list[str] = []
    if form == "":
        request = f["request"]
        assert request and status
        w.field("count_a", "1", "COUNT_A")
        w.before.append(f"uint64_t held = skelgen_handle_at({request.name});")
        done.append(f"call.reference = skelgen_completed_one(s, held, {status.name});")
    else:
        requests, count = f["requests"], f["count_a"]
        assert requests and count
        w.field("count_a", count.name, "COUNT_A")
        w.before.append(f"skelgen_hold(s, (size_t){count.name}, {requests.name});")
    if form == "all":
        assert statuses
        done.append(
            f"call.reference = skelgen_completed(s, (size_t){f['count_a'].name}, NULL, "
            f"{statuses.name});"
        )
    if form == "any":
        index = f["index"]
        assert index and status
        done.append(
            f"if (*{index.name} != MPI_UNDEFINED)\n\t\t\tcall.reference = "
            f"skelgen_completed(s, 1, {index.name}, {status.name});"
        )
    ready = f"*{flag.name}" if flag else ""
    if form == "some":
        out, indices = f["outcount"], f["indices"]
        assert out and indices and statuses
        done.append(
            f"if (*{out.name} != MPI_UNDEFINED)\n\t\t\tcall.reference = skelgen_completed("
            f"s, (size_t)*{out.name}, {indices.name}, {statuses.name});"
        )
        ready = f"*{out.name} != 0" if test else ""
    if own := status or statuses:
        many = f"(size_t){f['count_a'].name}" if statuses else "1"
        ignore = "MPI_STATUSES_IGNORE" if statuses else "MPI_STATUS_IGNORE"
        w.before.append(
            f"if (skelgen_watched && {own.name} == {ignore})\n"
            f"\t\t{own.name} = skelgen_own_statuses(s, {many});"
        )
    condition = "code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS"
    if ready:
        w.after.append(
            f"if (!({ready}) && code == MPI_SUCCESS) {{\n"
            "\t\tcall.flags &= ~(uint32_t)SKELGEN_SHAPE_COMPLETES;\n"
            "\t\tcall.flags |= SKELGEN_SHAPE_NOT_READY;\n\t}"
        )
        condition = f"({condition}) && {ready}"
    w.after.append(f"if ({condition}) {{\n\t\t" + "\n\t\t".join(done) + "\n\t}")


def start(w: Wrapper) -> None:
    """Start and Startall."""
    f = w.function
    w.flag("STARTS", "HAS_A")
    requests, count = f["requests"], f["count_a"]
    number = count.name if count else "1"
    w.field("count_a", number, "COUNT_A")
    w.field("reference", "0", "REFERENCE")
    array = requests or f["request"]
    assert array
    w.before.append(f"skelgen_hold(s, (size_t){number}, {array.name});")
    w.success.append(f"call.reference = skelgen_started(s, (size_t){number});")


def release(w: Wrapper) -> None:
    """Request_free and Cancel."""
    request = w.function["request"]
    assert request
    w.field("reference", "0", "REFERENCE")
    w.before.append(f"uint64_t held = skelgen_handle_at({request.name});")
    what = "released" if w.function.short == "request_free" else "cancelled"
    if what == "released":
        w.flag("RELEASES")
    w.success.append(f"call.reference = skelgen_{what}(s, held);")


def count_vector(w: Wrapper, side: str, n: str) -> list[str]:
    """Statements that intern the counts of one side."""
    counts, types = w.function[f"vector_{side}"], w.function[f"types_{side}"]
    assert counts
    number = f"skelgen_counts(s, {counts.name}, {n})"
    if types:
        number = f"skelgen_counted_bytes(s, {counts.name}, {types.name}, {n})"
    return [
        f"call.vector_{side} = {number};",
        f"call.flags |= SKELGEN_SHAPE_VECTOR_{side.upper()};",
    ]


def side(w: Wrapper, letter: str, n: str) -> list[str]:
    """Statements that take over one side of a collective."""
    f = w.function
    lines = []
    if f[f"vector_{letter}"]:
        lines += count_vector(w, letter, n)
    if a := f[f"count_{letter}"]:
        lines.append(f"call.count_{letter} = {a.name};")
        lines.append(f"call.flags |= SKELGEN_SHAPE_HAS_{letter.upper()};")
    if a := f[f"type_{letter}"]:
        lines.append(f"call.type_{letter} = {handle(a)};")
    return lines


def collective(w: Wrapper) -> None:
    """Collectives: which side counts depends on the root and on MPI_IN_PLACE."""
    f, name = w.function, w.function.collective
    if f["request"]:
        creates(w)
    sendbuf, recvbuf = f["sendbuf"], f["recvbuf"]
    rooted = name in ("gather", "gatherv", "scatter", "scatterv")
    two_sided = f["type_b"] is not None or f["types_b"] is not None
    w.general = rooted or any(f[f"vector_{x}"] for x in "ab")
    if not w.general and not two_sided:
        plain_fields(w)
        if sendbuf and name != "reduce_scatter":
            w.after.append(in_place(sendbuf))
        return
    for role, field in (("comm", "comm"), ("op", "op")):
        if a := f[role]:
            w.field(field, handle(a), role.upper())
    comm = f["comm"]
    assert comm
    if w.general:
        w.after.append(
            f"struct skelgen_view view = skelgen_view((MPI_Comm){comm.name});"
        )
    else:
        w.uses += ["SKELGEN_USES_A", "SKELGEN_USES_B", "SKELGEN_USES_COUNT_A"]
    n = "(size_t)view.size" if name == "reduce_scatter" else "(size_t)view.peers"
    if rooted:
        rooted_sides(w, n)
        return
    place = sendbuf and name != "reduce_scatter"
    lines = side(w, "a", n)
    if place:
        assert sendbuf
        w.after.append(in_place(sendbuf))
        w.after.append(
            f"if ({sendbuf.name} != MPI_IN_PLACE) {{\n\t\t"
            + "\n\t\t".join(lines)
            + "\n\t}"
        )
    else:
        assert sendbuf
        w.after += [in_place(sendbuf), *lines]
    if two_sided:
        w.after += side(w, "b", n)
    del recvbuf


def in_place(buffer: Argument) -> str:
    """Statement that notes MPI_IN_PLACE."""
    return (
        f"if ({buffer.name} == MPI_IN_PLACE)\n\t\tcall.flags |= SKELGEN_SHAPE_IN_PLACE;"
    )


def rooted_sides(w: Wrapper, n: str) -> None:
    """Gather and Scatter: one side counts at the root only."""
    f = w.function
    root = f["peer"]
    gather = f.collective.startswith("gather")
    at_root, elsewhere = ("b", "a") if gather else ("a", "b")
    buffer = f["sendbuf"] if gather else f["recvbuf"]
    assert root and buffer
    w.field("peer", f"skelgen_peer({root.name})", "PEER")
    w.after.append(
        f"if (skelgen_is_root(view, {root.name})) {{\n\t\t"
        + "\n\t\t".join(side(w, at_root, n))
        + f"\n\t\tif ({buffer.name} == MPI_IN_PLACE)\n"
        "\t\t\tcall.flags |= SKELGEN_SHAPE_IN_PLACE;\n\t}"
    )
    w.after.append(
        f"if ({root.name} >= 0 && {buffer.name} != MPI_IN_PLACE) {{\n\t\t"
        + "\n\t\t".join(side(w, elsewhere, n))
        + "\n\t}"
    )


def communicator(w: Wrapper) -> None:
    """Calls that make or free communicators."""
    f = w.function
    w.general = True
    comm, new = f["comm"], f["newcomm"]
    assert comm
    if not new:
        w.before.append(f"MPI_Comm freed = *{comm.name};")
        w.before.append("skelgen_view(freed);")
        w.field("comm", "(uint64_t)(uintptr_t)freed", "COMM")
        w.last.append("if (code == MPI_SUCCESS)\n\t\tskelgen_comm_freed(freed);")
        return
    w.field("comm", handle(comm), "COMM")
    if f["request"]:
        w.success.append(f"skelgen_comm_promise(s, (MPI_Comm){comm.name}, {new.name});")
        creates(w, "SKELGEN_REQUEST_PROMISE")
    else:
        w.success.append(
            f"skelgen_comm_created(s, SKELGEN_COMM_{MAKES[f.short]}, "
            f"(MPI_Comm){comm.name}, *{new.name});"
        )


KIND_PARTS = {
    "probe": probe,
    "complete": completion,
    "start": start,
    "release": release,
    "collective": collective,
    "icollective": collective,
    "collective_init": collective,
    "communicator": communicator,
}

# --- text ---------------------------------------------------------------------------------


def signature(f: Function) -> tuple[str, str, str]:
    """Return result type, parameter list and argument list."""
    result = "skelgen_word" if f.returns in HANDLES else f.returns
    parameters = ", ".join(a.declaration for a in f.arguments) or "void"
    return result, parameters, ", ".join(a.name for a in f.arguments)


def head(f: Function) -> str:
    """Return declaration and opening of a wrapper."""
    result, parameters, _ = signature(f)
    return (
        f'SKELGEN_EXPORT {result} skelgen_{f.name}({parameters}) __asm__("{f.name}");\n'
        f"{result} skelgen_{f.name}({parameters})\n{{\n"
    )


def recorded(f: Function) -> str:
    """Return the wrapper of a call that becomes an event."""
    w = Wrapper(f)
    KIND_PARTS.get(f.kind, message)(w)
    _, _, arguments = signature(f)
    fields = {
        "site": "SKELGEN_SITE",
        "function": str(f.id),
        "flags": " | ".join(w.flags) or "0",
        "peer": "SKELGEN_NO_PEER",
        "tag": "SKELGEN_NO_TAG",
        "peer2": "SKELGEN_NO_PEER",
        "tag2": "SKELGEN_NO_TAG",
        **w.fields,
    }
    lines = [
        "\tstruct skelgen_stream *s = skelgen_begin();",
        "\tuint64_t begin;\n\tuint64_t end;\n\tint code;\n",
        "\tif (unlikely(!s))",
        f"\t\treturn (real.{f.name})({arguments});",
        *(f"\t{line}" for line in w.before),
        "\tbegin = skelgen_clock_begin(s);",
        f"\tcode = (real.{f.name})({arguments});",
        "\tend = skelgen_now();",
        "\tstruct skelgen_call call = {",
        *(f"\t\t.{name} = {value}," for name, value in fields.items()),
        "\t};",
        *(f"\t{line}" for line in w.after),
        "\tif (unlikely(code != MPI_SUCCESS)) {",
        "\t\tcall.flags |= skelgen_failed(s, code);",
        *(["\t} else {", *(f"\t\t{x}" for x in w.success)] if w.success else []),
        "\t}",
    ]
    if w.general:
        lines.append("\tskelgen_event_general(s, &call, begin, end);")
    else:
        uses = " | ".join(dict.fromkeys(w.uses)) or "0"
        lines.append(f"\tskelgen_event(s, call, {uses}, begin, end);")
    lines += [*(f"\t{x}" for x in w.last), "\tskelgen_end(s);", "\treturn code;", "}"]
    return head(f) + "\n".join(lines) + "\n"


#: Local calls after which a handle's value may come back with another meaning.
FREES = {
    "MPI_Type_free": ("MPI_Datatype", "skelgen_type_freed(freed)"),
    "MPI_Op_free": ("MPI_Op", "skelgen_handle_freed((uint64_t)(uintptr_t)freed)"),
}


def counted(f: Function, index: int) -> str:
    """Return the wrapper of a call that is counted and passed on."""
    result, _, arguments = signature(f)
    lines = [
        "\tstruct skelgen_stream *s = skelgen_count(" + f"{index});",
        f"\t{result} code;",
    ]
    if f.name in FREES:
        lines.append(f"\t{FREES[f.name][0]} freed = *{f.arguments[0].name};")
    lines += [f"\n\tcode = (real.{f.name})({arguments});"]
    if f.name in FREES:
        lines.append(f"\tif (s && code == MPI_SUCCESS)\n\t\t{FREES[f.name][1]};")
    lines += ["\tif (s)\n\t\tskelgen_current = s;", "\treturn code;", "}"]
    return head(f) + "\n".join(lines) + "\n"


def lifecycle(f: Function) -> str:
    """Return the wrappers of Init, Finalize, Abort and Pcontrol."""
    _, _, arguments = signature(f)
    if f.kind == "init":
        body = [
            "\tbool first = skelgen_init_begin();",
            f"\tint code = (real.{f.name})({arguments});\n",
            "\tif (first)",
            f"\t\tskelgen_init_end(code, {f.id}, SKELGEN_SITE);",
            "\treturn code;",
        ]
    elif f.kind == "finalize":
        body = [
            "\tstruct skelgen_finalize state = skelgen_finalize_begin();",
            f"\tint code = (real.{f.name})();\n",
            f"\tskelgen_finalize_end(state, code, {f.id}, SKELGEN_SITE);",
            "\treturn code;",
        ]
    elif f.name == "MPI_Abort":
        body = [
            f"\tskelgen_aborting({f.id}, SKELGEN_SITE, errorcode);",
            f"\treturn (real.{f.name})({arguments});",
        ]
    else:
        body = [
            f"\tskelgen_control({f.id}, SKELGEN_SITE, level);",
            f"\treturn (real.{f.name})({arguments});",
        ]
    return head(f) + "\n".join(body) + "\n}\n"


def wrapper(f: Function, index: int) -> str:
    """Return the text of one wrapper."""
    if f.kind in ("local", "passed"):
        return counted(f, index)
    if f.kind in ("init", "finalize", "control"):
        return lifecycle(f)
    return recorded(f)


def wrappers(functions: list[Function], library: str) -> str:
    """Return the C file with all wrappers."""
    fields, names, rows = [], [], []
    for f in functions:
        result, parameters, _ = signature(f)
        fields.append(f"\t{result} (*{f.name})({parameters});")
        names.append(f'\t"{f.name}",')
        rows.append(f'\t{{{f.id}, SKELGEN_FN_{KINDS[f.kind]}, "{f.name}"}},')
    texts = [wrapper(f, i) for i, f in enumerate(functions)]
    parts = [
        "/* Written by gen_wrappers.py from mpi_calls.toml; do not edit. */",
        '#include "wrap.h"\n',
        "static struct {",
        *fields,
        "} real;\n",
        "void *const skelgen_real_table = &real;",
        f"const char skelgen_library[] = {json.dumps(library)};",
        "const char *const skelgen_real_names[] = {",
        *names,
        "\tNULL,\n};",
        "const struct skelgen_function skelgen_functions[] = {",
        *rows,
        "};",
        f"const size_t skelgen_function_count = {len(functions)};",
        f"uint64_t skelgen_passed[{len(functions)}];\n",
    ]
    return "\n".join(parts) + "\n" + "\n".join(texts)


def probe_program(functions: list[Function]) -> str:
    """Return a C program that prints which functions the MPI library has."""
    names = "\n".join(f'\t"{f.name}",' for f in functions)
    return f"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static const char *const names[] = {{
{names}
}};

int main(void)
{{
	int major;
	int minor;
	Dl_info library;

	MPI_Get_version(&major, &minor);
	if (!dladdr(dlsym(RTLD_DEFAULT, "PMPI_Init"), &library))
		return 1;
	puts(library.dli_fname);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dlsym(RTLD_DEFAULT, names[i]))
			puts(names[i]);
	return 0;
}}
"""


def main() -> None:
    """Write the file that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("probe", "wrappers"))
    parser.add_argument("output", type=Path)
    parser.add_argument("--available", type=Path, help="what the probe printed")
    options = parser.parse_args()
    functions = read_table()
    if options.what == "probe":
        text = probe_program(functions)
    else:
        library, *names = options.available.read_text().splitlines()
        available = set(names)
        text = wrappers([f for f in functions if f.name in available], library)
    options.output.write_text(text)


if __name__ == "__main__":
    main()
