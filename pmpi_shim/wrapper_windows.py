"""The wrappers of windows and files: what makes them, and what is done with them."""

from __future__ import annotations

from wrapper_parts import Wrapper, creates, handle, plain_fields

_MADE_BY = {
    "win_create": "WIN_CREATE",
    "win_allocate": "WIN_ALLOCATE",
    "win_allocate_shared": "WIN_SHARED",
    "win_create_dynamic": "WIN_DYNAMIC",
}


def made(w: Wrapper) -> None:
    """Record a call that makes or frees a window, opens or closes a file."""
    f = w.function
    w.general = True
    target = f["object"].name
    if not f.get("comm"):
        w.frees = f["object"]
        w.before.append(f"uint64_t freed = skelgen_handle_at({target});")
        w.field("comm", "freed", "COMM")
        w.flag("OBJECT")
        w.before.append("skelgen_retire(freed);")
        w.last.append("skelgen_retired(s, code == MPI_SUCCESS);")
        return
    w.field("comm", handle(f["comm"]), "COMM")
    created = f"(MPI_Comm){f['comm'].name}, skelgen_handle_at({target})"
    if f.kind == "file":
        detail = f"{f['name'].name}, {f['mode'].name}"
        w.success.append(f"skelgen_file_made(s, {created}, {detail});")
        return
    detail = ", ".join(
        a.name if (a := f.get(role)) else "0" for role in ("bytes", "unit")
    )
    kind = f"SKELGEN_COMM_{_MADE_BY[f.short]}"
    w.success.append(f"skelgen_window_made(s, {kind}, {created}, {detail});")


def operation(w: Wrapper) -> None:
    """Record what moves data between ranks of a window."""
    f = w.function
    plain_fields(w)
    w.flag("OBJECT")
    if not f.get("count_a") and not f.get("count_b"):  # Fetch_and_op, Compare_and_swap
        w.field("count_a", "1", "COUNT_A")
        w.flag("HAS_A")
    elif f.get("count_a") and f.get("count_b"):  # Get_accumulate
        # With MPI_NO_OP the program may pass anything as what is sent.
        sent = f"(MPI_Op){f['op'].name} != MPI_NO_OP"
        w.fields["count_a"] = f"{sent} ? (int64_t){w.fields['count_a']} : 0"
        w.fields["type_a"] = f"{sent} ? {w.fields['type_a']} : 0"
    if f.get("request"):
        creates(w)


def synchronisation(w: Wrapper) -> None:
    """Record what begins or ends an epoch, or completes its operations."""
    f = w.function
    plain_fields(w)
    w.flag("OBJECT")
    if a := f.get("assert"):
        w.field("tag", f"skelgen_assertion({a.name})", "PEER")
    if a := f.get("lock"):
        w.field("tag", f"skelgen_lock_type({a.name})", "PEER")
    if a := f.get("group"):
        w.general = True
        window = f"(MPI_Win){f['comm'].name}, (MPI_Group){a.name}"
        w.success.append(f"call.vector_a = skelgen_group_members(s, {window});")
        w.success.append("call.flags |= SKELGEN_SHAPE_VECTOR_A;")
    if a := f.get("flag"):
        w.success.append(
            f"if (!*{a.name})\n\t\t\tcall.flags |= SKELGEN_SHAPE_NOT_READY;"
        )


def transfer(w: Wrapper) -> None:
    """Record what reads, writes or changes a file."""
    plain_fields(w)
    if w.function.get("comm"):
        w.flag("OBJECT")
    if w.function.get("request"):
        creates(w)


PARTS = {
    "window": made,
    "file": made,
    "rma": operation,
    "sync": synchronisation,
    "io": transfer,
}
