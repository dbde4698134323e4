"""The wrappers of collectives: two sides, roots, MPI_IN_PLACE, count vectors."""

from __future__ import annotations

from wrapper_parts import Wrapper, block, creates, handle, plain_fields
from wrapper_table import Argument

_IN_PLACE = "call.flags |= SKELGEN_SHAPE_IN_PLACE;"


def collective(w: Wrapper) -> None:
    """Record a collective; what counts depends on the root and on MPI_IN_PLACE."""
    _sides(w)
    if not w.general:
        w.inputs, w.after = w.after, []


def _sides(w: Wrapper) -> None:
    f = w.function
    name = f.collective
    if f.get("request"):
        creates(w)
    if name.startswith("neighbor_"):
        _neighbourhood(w)
        return
    rooted = name in ("gather", "gatherv", "scatter", "scatterv")
    two_sided = f.get("type_b") is not None or f.get("types_b") is not None
    vectors = f.get("vector_a") is not None or f.get("vector_b") is not None
    if not (rooted or two_sided or vectors):
        plain_fields(w)
        if sendbuf := f.get("sendbuf"):
            w.after.append(_in_place(sendbuf))
        return
    w.general = rooted or vectors
    w.field("comm", handle(f["comm"]), "COMM")
    if op := f.get("op"):
        w.field("op", handle(op), "OP")
    if w.general:
        w.after.append(_view(w))
    else:
        w.uses += ["SKELGEN_USES_A", "SKELGEN_USES_B", "SKELGEN_USES_COUNT_A"]
    if rooted:
        _rooted_sides(w)
    elif two_sided:
        _two_sides(w)
    else:
        w.after += [_in_place(f["sendbuf"]), *_side(w, "a", "(size_t)view.size")]


def _view(w: Wrapper) -> str:
    view = f"skelgen_view((MPI_Comm){w.function['comm'].name}, code == MPI_SUCCESS)"
    return f"struct skelgen_view view = {view};"


def _in_place(buffer: Argument) -> str:
    return f"if ({buffer.name} == MPI_IN_PLACE)\n\t\t{_IN_PLACE}"


def _side(w: Wrapper, letter: str, n: str = "(size_t)view.peers") -> list[str]:
    """Return statements that take over one side, with n counts where it has many."""
    f = w.function
    lines = _vector(w, letter, n) if f.get(f"vector_{letter}") else []
    if a := f.get(f"count_{letter}"):
        lines.append(f"call.count_{letter} = {a.name};")
        lines.append(f"call.flags |= SKELGEN_SHAPE_HAS_{letter.upper()};")
    if a := f.get(f"type_{letter}"):
        lines.append(f"call.type_{letter} = {handle(a)};")
    return lines


def _vector(w: Wrapper, letter: str, n: str, ranks: str = "NULL") -> list[str]:
    """Return statements that take over n counts, or one that is the same n times."""
    f = w.function
    if counts := f.get(f"vector_{letter}"):
        number = f"skelgen_counts(s, {counts.name}, {n}, {ranks})"
        if types := f.get(f"types_{letter}"):
            both = f"{counts.name}, {types.name}"
            number = f"skelgen_counted_bytes(s, {both}, {n}, {ranks}, &call.flags)"
    else:
        count = f[f"count_{letter}"].name
        number = f"skelgen_equal_counts(s, {count}, {n}, {ranks})"
    return [
        f"call.vector_{letter} = {number};",
        f"call.flags |= SKELGEN_SHAPE_VECTOR_{letter.upper()};",
    ]


def _neighbourhood(w: Wrapper) -> None:
    """Record a count for each neighbour, where the program passes one for all too."""
    w.general = True
    w.field("comm", handle(w.function["comm"]), "COMM")
    w.after.append(_view(w))
    w.after.append("const int *sources = view.around.ranks;")
    w.after.append(
        "const int *destinations = sources ? sources + view.around.sources : NULL;"
    )
    for letter, ranks in (("a", "destinations"), ("b", "sources")):
        w.after += _vector(w, letter, f"(size_t)view.around.{ranks}", ranks)
        if a := w.function.get(f"type_{letter}"):
            w.after.append(f"call.type_{letter} = {handle(a)};")


def _two_sides(w: Wrapper) -> None:
    """Allgather, Alltoall: in place, the send side does not count."""
    buffer = w.function["sendbuf"]
    w.after.append(_in_place(buffer))
    w.after.append(block(f"{buffer.name} != MPI_IN_PLACE", _side(w, "a")))
    w.after += _side(w, "b")


def _rooted_sides(w: Wrapper) -> None:
    """Gather, Scatter: one side counts at the root only, in place just that one."""
    f = w.function
    gather = f.collective.startswith("gather")
    at_root, elsewhere = ("b", "a") if gather else ("a", "b")
    buffer = f["sendbuf" if gather else "recvbuf"].name
    root = f["peer"].name
    w.field("peer", f"skelgen_peer({root})", "PEER")
    noted = f"if ({buffer} == MPI_IN_PLACE)\n\t\t\t{_IN_PLACE}"
    w.after.append(block(f"skelgen_is_root(view, {root})", [*_side(w, at_root), noted]))
    counts = f"{root} >= 0 && {buffer} != MPI_IN_PLACE"
    w.after.append(block(counts, _side(w, elsewhere)))
