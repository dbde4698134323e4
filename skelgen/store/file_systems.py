"""Whether a file system is of this machine alone.

A write-ahead log needs memory that all its users share, so that they must be on one
machine.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

#: Types of `statfs` that only this machine sees; any other counts as shared.
_LOCAL = {
    0xEF53: "ext2, ext3, ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0x01021994: "tmpfs",
    0x858458F6: "ramfs",
    0x794C7630: "overlay",
    0xF2F52010: "f2fs",
    0x2FC12FC1: "zfs",
    0x3153464A: "jfs",
    0xCA451A4E: "bcachefs",
}
#: `struct statfs` takes less on any machine [bytes].
_ROOM_BYTES = 256


def is_local(path: Path) -> bool:
    """Say whether a file or folder is on a file system of this machine alone."""
    return type_of(path) in _LOCAL


def type_of(path: Path) -> int:
    """Return the number of a file system's type; 0: it is not known."""
    room = ctypes.create_string_buffer(_ROOM_BYTES)
    if ctypes.CDLL(None).statfs(os.fsencode(path), room) != 0:
        return 0
    # Its first member has a word's width, on all that Linux runs on but s390.
    return ctypes.c_ulong.from_buffer(room).value & 0xFFFFFFFF
