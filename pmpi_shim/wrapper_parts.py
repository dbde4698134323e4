"""What wrappers of several kinds have in common: fields, wildcards, requests."""

from __future__ import annotations

from collections.abc import Sequence

from wrapper_table import Argument, Function

#: Local calls after which a handle's value may come back with another meaning. What is
#: known of it is dropped before the call: behind it another thread may have the value.
FREES = {
    "MPI_Type_free": ("MPI_Datatype", "skelgen_type_freed(freed)"),
    "MPI_Op_free": ("MPI_Op", "skelgen_handle_freed((uint64_t)(uintptr_t)freed)"),
}
#: What opens and closes MPI in programs without Init.
SESSIONS = (
    "MPI_Session_init",
    "MPI_Comm_create_from_group",
    "MPI_Session_finalize",
)


class Wrapper:
    """Collects the statements of one wrapper, by place."""

    def __init__(self, function: Function, first_index: str = "0") -> None:
        self.function = function
        self.first_index = first_index  # of arrays, in the language of the caller
        self.prepare: list[str] = []  # what a completion does first of all
        self.before: list[str] = []  # then, before the time is taken
        self.inputs: list[str] = []  # what arguments say, in order
        self.after: list[str] = []  # after the call, in order
        self.success: list[str] = []  # only where the call returned MPI_SUCCESS
        self.last: list[str] = []  # after the event
        self.flags: list[str] = []
        self.uses: list[str] = []
        self.fields: dict[str, str] = {}
        self.creates = ""  # statement that numbers the request which the call makes
        self.creates_flag = ""  # and what it says of the shape
        # Whether something was completed, what, and what where the call failed.
        self.completed = ("", "", "")
        self.frees: Argument | None = None  # the handle that the call frees
        self.general = False  # vectors and the like: not for the fast path
        self.polls = False  # may find nothing, over and over
        self.told = False  # the call says which message it found

    def field(self, name: str, value: str, *uses: str) -> None:
        """Set a field of the call and note that this function has it."""
        self.fields[name] = value
        self.uses += [f"SKELGEN_USES_{u}" for u in uses]

    @property
    def all_uses(self) -> str:
        """Which fields of a call the function has."""
        return " | ".join(dict.fromkeys(self.uses)) or "0"

    def flag(self, *flags: str) -> None:
        """Set flags of the shape."""
        self.flags += [f"SKELGEN_SHAPE_{f}" for f in flags]


def handle(argument: Argument) -> str:
    """Return the argument's handle as a number."""
    base = argument.type.replace("const", "").strip(" *")
    return f"(uint64_t)(uintptr_t)({base}){argument.name}"


def block(condition: str, statements: list[str]) -> str:
    """Return statements in braces behind an if."""
    return f"if ({condition}) {{\n\t\t" + "\n\t\t".join(statements) + "\n\t}"


def plain_fields(w: Wrapper) -> None:
    """Take over counts, types, communicator, peer, tag, operation."""
    f = w.function
    if (a := f.get("comm")) and a.by_value:
        w.field("comm", handle(a), "COMM")
    for side in "ab":
        if a := f.get(f"count_{side}"):
            times = f" * {parts.name}" if (parts := f.get("partitions")) else ""
            w.field(f"count_{side}", a.name + times, "COUNT_A" if side == "a" else "B")
            w.flag(f"HAS_{side.upper()}")
        if a := f.get(f"type_{side}"):
            w.field(f"type_{side}", handle(a), side.upper())
    for digit, uses in (("", "PEER"), ("2", "PEER2")):
        if a := f.get(f"peer{digit}"):
            w.field(f"peer{digit}", f"skelgen_peer({a.name})", uses)
        if a := f.get(f"tag{digit}"):
            w.field(f"tag{digit}", f"skelgen_tag({a.name})", uses)
    if a := f.get("op"):
        w.field("op", handle(a), "OP")


#: Whether a call was passed a wildcard, once its flags are known.
ANY = "call.flags & (SKELGEN_SHAPE_WILD_SOURCE | SKELGEN_SHAPE_WILD_TAG)"


def wildcards(w: Wrapper, *, returns_message: bool, condition: str = "") -> None:
    """Note wildcards; a call that returns the message states what it really was."""
    f = w.function
    digit = "2" if f.get("peer2") else ""
    peer, tag = f"call.peer{digit}", f"call.tag{digit}"
    for field, wild in ((peer, "SOURCE"), (tag, "TAG")):
        flag = f"call.flags |= SKELGEN_SHAPE_WILD_{wild};"
        w.inputs.append(f"if ({field} == SKELGEN_ANY_{wild})\n\t\t{flag}")
    if not returns_message:
        return
    w.told = True
    status = f["status"].name
    source, wanted = f[f"peer{digit}"].name, f[f"tag{digit}"].name
    w.before.append("MPI_Status own_status;")
    w.before.append(
        f"if (({source} == MPI_ANY_SOURCE || {wanted} == MPI_ANY_TAG) &&\n"
        f"\t    {status} == MPI_STATUS_IGNORE)\n\t\t{status} = &own_status;"
    )
    lines = [
        f"{peer} = skelgen_peer({status}->MPI_SOURCE);",
        f"{tag} = skelgen_tag({status}->MPI_TAG);",
    ]
    w.success.append(block(f"({ANY}){condition}", lines))


def creates(w: Wrapper, flags: str = "0") -> None:
    """Have the request numbered that the call makes."""
    request = w.function["request"].name
    persistent = w.function.name.removesuffix("_c").endswith("_init")
    if persistent:
        flags = f"SKELGEN_REQUEST_PERSISTENT | ({flags})"
    number = f"(uint64_t)(uintptr_t)*{request}"
    w.creates = f"skelgen_request_created(s, {number}, {flags}, end);"
    w.creates_flag = f"SKELGEN_SHAPE_{'PERSISTENT' if persistent else 'CREATES'}"


def in_phases(f: Function) -> bool:
    """Say whether phases count calls of a function (skelgen.phases.counts)."""
    uncounted = f.kind in ("complete", "probe", "release")
    return not uncounted and f.name != "MPI_Win_test"


def known(w: Wrapper, site: str = "SKELGEN_SITE") -> list[str]:
    """Return the statements that state what the arguments say of a call."""
    fields = {
        "site": site,
        "function": str(w.function.id),
        "flags": " | ".join(w.flags) or "0",
        "peer": "SKELGEN_NO_PEER",
        "tag": "SKELGEN_NO_TAG",
        "peer2": "SKELGEN_NO_PEER",
        "tag2": "SKELGEN_NO_TAG",
        **w.fields,
    }
    return [
        "struct skelgen_call call = {",
        *(f"\t.{name} = {value}," for name, value in fields.items()),
        "};",
        *w.inputs,
    ]


def enter(w: Wrapper, pass_on: str, freed: str = "") -> list[str]:
    """Return what a wrapper begins with; `pass_on` while nothing is recorded.

    `freed` is the handle that the call frees, if it does.
    """
    function = w.function.id if in_phases(w.function) else 0
    return [
        f"struct skelgen_stream *s = skelgen_begin({function});",
        "uint64_t begin;\n\tuint64_t end;\n\tint code;\n",
        *([f"if (unlikely(!s))\n\t\tskelgen_dropped({freed});"] if freed else []),
        f"if (unlikely(!s)){pass_on}",
    ]


def found_complete(w: Wrapper, indent: str = "\t\t") -> list[str]:
    """Return the statements that find out which requests a call completed."""
    done, completed, failing = w.completed
    if not done:
        return []
    return [
        f"if ({done})\n{indent}call.reference = {completed};",
        f"if (unlikely(code != MPI_SUCCESS))\n{indent}call.reference = {failing};",
    ]


def timed_call(
    w: Wrapper,
    call: str,
    epilogue: Sequence[str] = (),
    site: str = "SKELGEN_SITE",
    *,
    unforeseen: bool = False,
) -> list[str]:
    """Return the call of the library's function between two times, and its event.

    `call` sets `code`, or has the epilogue do so. A call that is unforeseen is not the
    predicted one either, unless it says itself which message it found.
    """
    success = list(w.success)
    if w.creates:
        success += [w.creates, f"call.flags |= {w.creates_flag};"]
    lines = [
        *w.prepare,
        *w.before,
        "begin = skelgen_clock_begin(s, skelgen_now());",
        call,
        "end = skelgen_now();",
        *epilogue,
        *known(w, site),
        *w.after,
        *found_complete(w),
        "if (unlikely(code != MPI_SUCCESS)) {",
        "\tcall.flags |= skelgen_failed(s, code);",
        *(["} else {", *(f"\t{x}" for x in success)] if success else []),
        "}",
    ]
    if w.polls:
        lines += [
            "if (!(call.flags & SKELGEN_SHAPE_NOT_READY) ||",
            "    !skelgen_poll_again(s, &call, begin, end))",
        ]
    indent = "\t" if w.polls else ""
    event = f"(s, call, {w.all_uses}, begin, end);"
    if w.general:
        event = "_general(s, &call, begin, end);"
    elif unforeseen and not w.told:
        event = "_unpredicted(s, &call, begin, end);"
    return [*lines, f"{indent}skelgen_event{event}", *w.last, "skelgen_end(s);"]


def foreseen_call(w: Wrapper, call: str) -> list[str]:
    """Return the same for a call whose arguments are those of the predicted event.

    Little has to be kept until it returns, and nothing to be compared afterwards.
    """
    lines = [
        "begin = skelgen_clock_begin(s, skelgen_tsc());",
        call,
        "end = skelgen_tsc();",
    ]
    if w.creates:
        lines.append(f"if (likely(code == MPI_SUCCESS))\n\t\t\t{w.creates}")
    lines += found_complete(w, "\t\t\t")
    event = f"s, code, call, {w.all_uses}, begin, end"
    lines += [f"skelgen_event_foreseen({event});", "return code;"]
    expected = f"s, call, {w.creates_flag or 0}, {w.all_uses}"
    return [*known(w), block(f"likely(skelgen_foreseen({expected}))", lines)]


def statements(lines: Sequence[str]) -> str:
    """Return the lines as what stands in a function."""
    return "".join(f"\t{line}\n" for line in lines)


def counted_body(
    f: Function,
    index: int,
    *,
    call: str,
    freed: str,
) -> str:
    """Return what stands in the wrapper of a call that is counted and passed on.

    Those that communicate are timed as well. `freed` is the handle that a call frees.
    """
    lines = [f"struct skelgen_stream *s = skelgen_count({index});"]
    kind, forget = FREES.get(f.name, ("", ""))
    timed = f.kind == "passed"
    if kind:
        taken = f"{kind} freed = {freed};"
        # Also in callbacks and first of all in a thread.
        lines.append(f"if (skelgen.recording) {{\n\t\t{taken}\n\n\t\t{forget};\n\t}}")
    if timed:
        lines.append("uint64_t begin = s ? skelgen_now() : 0;")
    lines.append(call)
    if timed:
        lines.append(f"if (s)\n\t\tskelgen_spent({index}, skelgen_now() - begin);")
    lines.append("if (s)\n\t\tskelgen_current = s;")
    return statements(lines)


def session_body(
    f: Function, index: int, *, call: str, code: str, session: str, created: str
) -> str:
    """Return what stands in the wrapper of a call that opens or closes a session.

    Fortran's functions may call those of C: only the outer one acts. `session` is the
    session's handle and whether it is Fortran's, `created` points to the communicator
    that was made.
    """
    lines = ["bool outer = skelgen_session_enter();"]
    if f.kind == "finalize":
        lines.append("struct skelgen_finalize state = skelgen_session_closing(outer);")
        done = f"skelgen_finalize_end(state, {code}, {f.id}, SKELGEN_SITE);"
    elif f.name == "MPI_Session_init":
        told = f"{code}, first, {session}, {f.id}, SKELGEN_SITE"
        done = f"skelgen_session_opened({told});"
    else:
        done = f"skelgen_session_joined({code}, {created});"
    lines.append(f"struct skelgen_stream *s = skelgen_count({index});")
    if f.name == "MPI_Session_init":
        lines.append("bool first = outer && !s && skelgen_init_begin();")
    acts = "outer && !s" if f.name == "MPI_Comm_create_from_group" else "outer"
    lines += [
        f"{call}\n",
        f"if ({acts})\n\t\t{done}",
        "skelgen_session_leave(outer);",
        "if (s)\n\t\tskelgen_current = s;",
    ]
    return statements(lines)
