"""Archives for tests, sound and hostile, byte by byte."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping

#: What a member may be: its content, or what makes it something else than a file.
Member = bytes | tarfile.TarInfo


def tar_of(members: Mapping[str, Member], *, packed: bool = True) -> bytes:
    """Return a tar archive of these files, which may have any names."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, one in members.items():
            info = one if isinstance(one, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.name = name
            if isinstance(one, bytes):
                info.size = len(one)
            archive.addfile(info, io.BytesIO(one) if isinstance(one, bytes) else None)
    found = output.getvalue()
    return gzip.compress(found, mtime=0) if packed else found


def special(kind: bytes, target: str = "") -> tarfile.TarInfo:
    """Return a member that is no file, such as ``tarfile.SYMTYPE``."""
    info = tarfile.TarInfo("x")
    info.type = kind
    info.linkname = target
    return info


def zip_of(members: Mapping[str, bytes | zipfile.ZipInfo], **how: int) -> bytes:
    """Return a zip archive of these files, which may have any names."""
    output = io.BytesIO()
    method = how.get("compression", zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(output, "w", method) as archive:
        for name, one in members.items():
            if isinstance(one, zipfile.ZipInfo):
                archive.writestr(one, b"target")
            else:
                archive.writestr(name, one)
    return output.getvalue()


def zip_link(name: str) -> zipfile.ZipInfo:
    """Return a member of a zip archive that is a symbolic link."""
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = 0o120777 << 16
    return info


def many_members(count: int) -> bytes:
    """Return a packed tar archive of so many empty files, made quickly."""
    header = bytearray(tar_of({"x": b""}, packed=False)[:512])
    return gzip.compress(bytes(header) * count + bytes(1024), 1, mtime=0)
