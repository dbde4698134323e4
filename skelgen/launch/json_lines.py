"""A file of results with a JSON line for each: appended to, read to go on later."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skelgen.documents import Field, json_field, sealed_json
from skelgen.documents.files import as_text, read_bytes
from skelgen.documents.system import writing
from skelgen.errors import InputError, NoFileError, UsageError
from skelgen.launch.folders import PRIVATE_FILE, private_folder


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file that survives a crash with all but its last line.

    Attributes
    ----------
    path : Path
    """

    path: Path

    def read(self) -> list[Field]:
        """Return the complete lines, each a mapping; none when there is no file.

        Raises
        ------
        InputError
            When a line is something else or damaged.
        """
        lines = []
        text = as_text(self.path, self._whole())
        for number, line in enumerate(text.split("\n")[:-1], 1):
            try:
                field = json_field(line, self.path, f"line {number}")
                field.mapping(optional=None)
            except InputError as error:
                raise InputError(
                    f"{self.path} line {number} is no result ({error}); remove the file"
                ) from error
            lines.append(field)
        return lines

    def values(self) -> list[dict[str, Any]]:
        """Return the complete lines as plain values; see `read`."""
        return [field.value for field in self.read()]

    def _whole(self) -> bytes:
        """Return the file up to its last line's end: a crash leaves half a line."""
        try:
            return b"".join(read_bytes(self.path).rpartition(b"\n")[:2])
        except NoFileError:
            return b""

    def begin(self, *, keep: bool) -> None:
        """Get the file ready to append to.

        Parameters
        ----------
        keep : bool
            Keep its complete lines; else it starts empty.

        Raises
        ------
        UsageError
            When it cannot be written.
        """
        whole = self._whole() if keep else b""
        with writing(self.path):
            private_folder(self.path.parent)
            if not keep:  # it may be another user's, in a folder that several share
                self._check_ours()
                self.path.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            os.close(os.open(self.path, flags, PRIVATE_FILE))
            os.truncate(self.path, len(whole))

    def _check_ours(self) -> None:
        """Refuse to replace a file that begins like nothing of ours."""
        mute = contextlib.suppress(FileNotFoundError, PermissionError)
        with mute, self.path.open("rb") as file:
            begin = file.read(1)
            if begin not in (b"", b"{"):
                raise UsageError(
                    f"{self.path} is no file of results, and is not replaced by one; "
                    "move it away"
                )

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line, at once.

        Raises
        ------
        UsageError
            When it cannot be written.
        """
        with writing(self.path), self.path.open("a") as file:
            file.write(sealed_json(line, indent=None))
