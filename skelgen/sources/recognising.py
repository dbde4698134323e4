"""Which tool wrote a text."""

from __future__ import annotations

from skelgen.errors import InputError

#: Kinds of sources; the estimated CPU is named for them.
KINDS = ("node-exporter", "pcp", "ldms", "sar")
#: Begins of files: those of sar are in the byte order of either kind of machine.
_BEGINS = {
    b"\x96\xd5": ("sar", "binary"),
    b"\xd5\x96": ("sar", "binary"),
    b"#Time": ("ldms", "text"),
    b"Time,": ("pcp", "text"),
    **dict.fromkeys((b"# HELP", b"# TYPE", b"node_"), ("node-exporter", "text")),
}
#: In the first bytes of the files of an archive of PCP.
_PCP = b"\x50\x05\x26"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def kind_of(source: str, begin: bytes) -> tuple[str, str]:
    """Return the kind of a source and its form, by how it begins.

    Parameters
    ----------
    source : str
        For messages.
    begin : bytes
        Its first thousand bytes.

    Returns
    -------
    kind : str
        A name of `KINDS`.
    form : str
        ``text``, ``json`` or ``binary``.

    Raises
    ------
    InputError
        When no tool that is known wrote it.

    Examples
    --------
    >>> kind_of("f", b"#Time,Time_usec,ProducerName,user")
    ('ldms', 'text')
    """
    if begin.startswith(_UTF_16):
        raise InputError(f"{source}: is UTF-16; write it as UTF-8")
    if _PCP in begin[:16]:
        return "pcp", "binary"
    text = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return ("sar" if b'"sysstat"' in text else "node-exporter"), "json"
    if b"# hostname;" in text or b";LINUX-RESTART" in text:
        return "sar", "text"
    for beginning, found in _BEGINS.items():
        if text.startswith(beginning):
            return found
    raise InputError(
        f"{source}: is not what node_exporter, PCP, LDMS or sar writes; name the tool "
        "with --from"
    )
