"""Short names of symbols, for people."""

from __future__ import annotations

from skelgen.events.types import NO_PEER, PROC_NULL
from skelgen.signature.types import Signature
from skelgen.symbols.types import VARYING


def relative_peer(peer: int, size: int) -> str:
    """Write a relative partner with the sign that makes it smallest.

    Examples
    --------
    >>> relative_peer(7, 8), relative_peer(1, 8), relative_peer(0, 8)
    ('-1', '+1', 'self')
    """
    if peer == PROC_NULL:
        return "nobody"
    if peer == VARYING:
        return "anyone"
    if peer == 0:
        return "self"
    return f"+{peer}" if peer <= size // 2 else f"-{size - peer}"


def symbol_label(signature: Signature, row: int) -> str:
    """Name a symbol: function, partners or root, communicator.

    Parameters
    ----------
    signature : Signature
    row : int
        Row of ``signature.symbols``.

    Returns
    -------
    str
        Such as ``Isend to +1`` or ``Bcast root 0 on split 3``.
    """
    symbol = signature.symbols[row]
    name = signature.functions[symbol["function"]].removeprefix("MPI_")
    words = [name]
    family = int(symbol["family"])
    peer, peer2 = int(symbol["peer"]), int(symbol["peer2"])
    size = len(signature.families[family].instances[0]) if family >= 0 else 0
    both = "sendrecv" in name.lower()
    receives = "recv" in name.lower() and not both
    if "send" in name.lower() or receives:
        words += ["from" if receives else "to", relative_peer(peer, size)]
        if both and peer2 != NO_PEER:
            words += ["from", relative_peer(peer2, size)]
    elif peer != NO_PEER:
        words += ["root", str(peer)]
    if family > 0:
        words += ["on", f"{signature.families[family].kind} {family}"]
    return " ".join(words)
