"""Files without their checksums, as somebody leaves them who edits them on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def unsealed(text: str) -> str:
    """Return the text of a YAML file without its first line, the checksum."""
    first, _, rest = text.partition("\n")
    assert first.startswith("# checksum "), first
    return rest


def unsealed_json(path: Path) -> Any:
    """Return the values of a JSON file without its checksum."""
    content = json.loads(path.read_text())
    del content["checksum"]
    return content
