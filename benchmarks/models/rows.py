"""Results that are kept: a JSON line for each run, read again to go on later."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skelgen.launch.json_lines import JsonLines

#: What says which run it is, and what came of it: plain values of JSON.
Key = Mapping[str, Any]
Found = dict[str, Any]


@dataclass(slots=True)
class Rows:
    """A file of results in a folder that the user names.

    Attributes
    ----------
    file : JsonLines
    known : dict of str to dict
        What came of each run that was made.
    """

    file: JsonLines
    known: dict[str, Found] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> Rows:
        """Read what there is, and get ready to add to it.

        Raises
        ------
        SkelgenError
            When the file is something else, or cannot be written.
        """
        file = JsonLines(path)
        file.begin(keep=True)
        lines = [one for one in file.values() if "run" in one]
        return cls(file, {_name(one["run"]): one["found"] for one in lines})

    def known_or(self, run: Key, otherwise: Found) -> Found:
        """Return what came of a run, where it was made."""
        return self.known.get(_name(run), otherwise)

    def get(self, run: Key, make: Callable[[], Found]) -> Found:
        """Return what came of a run; make it, and keep that, unless it is known."""
        name = _name(run)
        if name not in self.known:
            found = make()
            self.file.append({"run": dict(run), "found": found})
            self.known[name] = found
        return self.known[name]


def _name(run: Key) -> str:
    return json.dumps(dict(run), sort_keys=True)
