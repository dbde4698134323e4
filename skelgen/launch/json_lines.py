"""A file of results with a JSON line for each: appended to, read to go on later."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skelgen.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file that survives a crash with all but its last line.

    Attributes
    ----------
    path : Path
    """

    path: Path

    def read(self) -> list[dict[str, Any]]:
        """Return the complete lines; none when there is no file.

        Raises
        ------
        InputError
            When a line is something else.
        """
        lines = []
        for number, text in enumerate(self._whole().splitlines(), 1):
            try:
                lines.append(dict(json.loads(text)))
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"{self.path} line {number} is no result ({error}); remove the file"
                ) from error
        return lines

    def _whole(self) -> bytes:
        """Return the file up to its last line's end: a crash leaves half a line."""
        try:
            return b"".join(self.path.read_bytes().rpartition(b"\n")[:2])
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}") from error

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
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not keep:  # it may be another user's, in a folder that several share
                self.path.unlink(missing_ok=True)
            self.path.open("ab").close()
            os.truncate(self.path, len(whole))
        except OSError as error:
            raise self._unwritable(error) from error

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line, at once.

        Raises
        ------
        UsageError
            When it cannot be written.
        """
        try:
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> UsageError:
        return UsageError(f"{self.path} cannot be written: {error.strerror}")
