"""What a source is, told before it is read, and what is wanted of it."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

SIGNATURE_FILE = "signature.yaml"


class Pages(Enum):
    """Whether recorded runs come with what their pages show."""

    NONE = 0
    OF_OWN = 1
    OF_SENT = 2  # of traces that anybody may have made


def is_run(folder: Path) -> bool:
    """Say whether a folder holds rank files."""
    return folder.is_dir() and any(folder.glob("*.skt"))
