"""The wrappers of messages, probes, completions and communicators."""

from __future__ import annotations

from wrapper_collectives import collective
from wrapper_parts import ANY, Wrapper, block, creates, handle, plain_fields, wildcards
from wrapper_table import Function
from wrapper_windows import PARTS

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


#: What the probe of a matched message knew, by the fields of the call that receives it.
_ORIGIN = (("comm", "comm"), ("peer", "source"), ("tag", "tag"))


def message(w: Wrapper) -> None:
    """Record a send or receive, blocking, nonblocking or persistent."""
    f = w.function
    plain_fields(w)
    watched = "0"
    if f.kind in ("receive", "sendrecv") and f.get("tag"):
        wildcards(w, returns_message=True)
    if f.kind in ("ireceive", "receive_init", "other") and f.get("tag"):
        wildcards(w, returns_message=False)
        watched = f"{ANY} ? SKELGEN_REQUEST_WATCHED : 0"
    if a := f.get("message"):
        w.before.append(f"MPI_Message matched = *{a.name};")
        w.before.append(
            "struct skelgen_message origin = skelgen_message_taken(matched);"
        )
        w.after += [f"call.{x} = origin.{y};" for x, y in _ORIGIN]
        w.general = True
    if f.get("request"):
        creates(w, watched)


def probe(w: Wrapper) -> None:
    """Record a probe, Iprobe, one of their matched forms, or a look at requests."""
    f = w.function
    plain_fields(w)
    flag, found = f.get("flag") or f.get("outcount"), f.get("message")
    if f.get("status"):
        ready = f" && *{flag.name}" if flag else ""
        wildcards(w, returns_message=True, condition=ready)
    w.polls = flag is not None
    if flag:
        not_ready = "call.flags |= SKELGEN_SHAPE_NOT_READY;"
        w.success.append(f"if (!*{flag.name})\n\t\t\t{not_ready}")
    if found:
        status = f["status"].name
        condition = f"if (*{flag.name})\n\t\t\t" if flag else ""
        w.success.append(
            f"{condition}skelgen_message_made(*{found.name}, "
            f"(MPI_Comm){f['comm'].name}, {status}->MPI_SOURCE, {status}->MPI_TAG);"
        )
        w.before.append(
            f"if ({status} == MPI_STATUS_IGNORE)\n\t\t{status} = &own_status;"
        )


def completed(w: Wrapper) -> str:
    """Return the expression that finds out what a completion completed."""
    f = w.function
    form = f.short[4:]
    if form == "":
        return f"skelgen_completed_one(s, held, {f['status'].name})"
    if form == "all":
        arguments = f"(size_t){f['count_a'].name}, {f['statuses'].name}"
        return f"skelgen_completed_all(s, {arguments})"
    if form == "any":
        some = f["index"].name
        arguments = f"1, {some}, {w.first_index}, {f['status'].name}"
    else:
        some = f["outcount"].name
        indices = f"{f['indices'].name}, {w.first_index}"
        arguments = f"(size_t)*{some}, {indices}, {f['statuses'].name}"
    what = f"skelgen_completed_some(s, {arguments})"
    return f"*{some} != MPI_UNDEFINED ? {what} : 0"


def failed(w: Wrapper) -> str:
    """Return the expression that finds out what a completion that failed completed."""
    f = w.function
    if a := f.get("request"):
        return f"skelgen_completed_failing(s, held, skelgen_handle_at({a.name}))"
    count = f"(size_t){f['count_a'].name}"
    told = f["statuses"].name if f.short.endswith("all") else "NULL"
    gone = f"skelgen_gone(s, {count}, {f['requests'].name}, {told}, code)"
    return f"({gone}, skelgen_completed_all(s, {count}, {told}))"


def completion(w: Wrapper) -> None:
    """Record Wait, Test or one of their forms for several requests."""
    f = w.function
    w.flag("COMPLETES", "HAS_A")
    w.field("reference", "0", "REFERENCE")
    count = a.name if (a := f.get("count_a")) else "1"
    w.field("count_a", count, "COUNT_A")
    if a := f.get("requests"):
        w.prepare.append(f"skelgen_hold(s, (size_t){count}, {a.name});")
    else:
        w.prepare.append(f"uint64_t held = skelgen_handle_at({f['request'].name});")
    many = f.get("statuses")
    own = many or f["status"]
    ignore = "MPI_STATUSES_IGNORE" if many else "MPI_STATUS_IGNORE"
    w.prepare.append(
        f"if (skelgen_watching() && {own.name} == {ignore})\n\t\t"
        f"{own.name} = skelgen_own_statuses(s, {f'(size_t){count}' if many else '1'});"
    )
    done = "code == MPI_SUCCESS"
    if ready := is_ready(f):
        w.polls = True
        not_ready = [
            "call.flags &= ~(uint32_t)SKELGEN_SHAPE_COMPLETES;",
            "call.flags |= SKELGEN_SHAPE_NOT_READY;",
        ]
        w.after.append(block(f"!({ready}) && code == MPI_SUCCESS", not_ready))
        done = f"{done} && {ready}"
    else:
        done = f"likely({done})"
    w.completed = (done, completed(w), failed(w))


def is_ready(f: Function) -> str:
    """Return the condition under which a Test completed something."""
    if not f.short.startswith("test"):
        return ""
    flag = f.get("flag")
    return f"*{flag.name}" if flag else f"*{f['outcount'].name} != 0"


def start(w: Wrapper) -> None:
    """Record Start or Startall."""
    f = w.function
    w.flag("STARTS", "HAS_A")
    count = a.name if (a := f.get("count_a")) else "1"
    array = f.get("requests") or f["request"]
    w.field("count_a", count, "COUNT_A")
    w.field("reference", "0", "REFERENCE")
    w.before.append(f"skelgen_hold(s, (size_t){count}, {array.name});")
    w.success.append(f"call.reference = skelgen_started(s, (size_t){count});")


def release(w: Wrapper) -> None:
    """Record Request_free or Cancel."""
    w.field("reference", "0", "REFERENCE")
    held = f"skelgen_handle_at({w.function['request'].name})"
    w.before.append(f"uint64_t held = {held};")
    frees = w.function.short == "request_free"
    if frees:
        w.flag("RELEASES")
    what = "released" if frees else "cancelled"
    w.success.append(f"call.reference = skelgen_{what}(s, held);")


def communicator(w: Wrapper) -> None:
    """Record a call that makes or frees a communicator."""
    f = w.function
    comm, new = f["comm"], f.get("newcomm")
    w.general = True
    if not new:
        w.frees = comm
        w.before.append(f"MPI_Comm freed = {comm.name} ? *{comm.name} : mpi.comm_null;")
        w.before.append("skelgen_view(freed, true);")
        w.before.append("skelgen_retire((uint64_t)(uintptr_t)freed);")
        w.field("comm", "(uint64_t)(uintptr_t)freed", "COMM")
        w.last.append("skelgen_retired(s, code == MPI_SUCCESS);")
        return
    w.field("comm", handle(comm), "COMM")
    parent = f"(MPI_Comm){comm.name}"
    if f.get("request"):
        w.success.append(f"skelgen_comm_promise(s, {parent}, {new.name});")
        creates(w, "SKELGEN_REQUEST_PROMISE")
        return
    kind = f"SKELGEN_COMM_{MAKES[f.short]}"
    w.success.append(f"skelgen_comm_created(s, {kind}, {parent}, *{new.name});")


#: Who fills in the wrapper of a call, by its kind; others are messages.
KIND_PARTS = {
    "probe": probe,
    "complete": completion,
    "start": start,
    "release": release,
    "collective": collective,
    "icollective": collective,
    "collective_init": collective,
    "communicator": communicator,
    **PARTS,
}


def record(w: Wrapper) -> None:
    """Fill in the wrapper of a call that becomes an event."""
    KIND_PARTS.get(w.function.kind, message)(w)
