"""Rank files that the recorder writes on each node before they go to the run's folder.

``SKELGEN_TMPDIR`` names a folder on a disk of the node. A rank copies its file from
there when it ends; what a killed rank left behind is brought from this host's disk.
"""

from __future__ import annotations

import logging
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Self

logger = logging.getLogger(__name__)

#: What the user may set for the recorder, beside the folders.
_SETTINGS = (
    "SKELGEN_MAX_BYTES",
    "SKELGEN_CALLSTACK",
    "SKELGEN_CLOCK",
    "SKELGEN_CPU_TIME",
)


@dataclass(frozen=True, slots=True)
class NodeFolder:
    """The folder of one run below ``SKELGEN_TMPDIR``.

    Attributes
    ----------
    path : Path
    """

    path: Path

    @classmethod
    def of(cls, folder: Path) -> Self | None:
        """Return the folder for a run that is recorded into `folder`, if one is set."""
        base = os.environ.get("SKELGEN_TMPDIR", "")
        if not base:
            return None
        return cls(Path(base).absolute() / f"skelgen-{folder.name.strip('.')}")

    def bring(self, folder: Path) -> None:
        """Move what killed ranks left on this host, and remove the node's folder."""
        for path in sorted(self.path.rglob("rank-*.skt")):
            rank, *thread, _ = path.name.removesuffix(".skt").split(".")
            name = ".".join([rank, *thread, "skt"])
            target = folder / path.relative_to(self.path).with_name(name)
            try:
                target.parent.mkdir(exist_ok=True)
                shutil.move(path, target)
            except OSError as error:
                logger.warning("%s stays where it is: %s", path, error.strerror)
                return
        shutil.rmtree(self.path, ignore_errors=True)


def recorder_settings(node: NodeFolder | None) -> dict[str, str]:
    """Return the variables that ranks need to record as the user wants it."""
    settings = {name: os.environ[name] for name in _SETTINGS if name in os.environ}
    if node is not None:
        settings["SKELGEN_TMPDIR"] = str(node.path)
    return settings
