"""Write the JSON Schema of each result: ``python -m skelgen.results docs/schemas``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from skelgen.results.schema import schema_of
from skelgen.results.table import RESULTS


def schemas() -> dict[str, str]:
    """Return name and text of each file of schemas."""
    return {
        f"{one.result}.schema.json": json.dumps(schema_of(one), indent=1) + "\n"
        for one in RESULTS
    }


def main(folder: Path) -> None:
    """Write all schemas into a folder; others in it are removed."""
    texts = schemas()
    for old in folder.glob("*.schema.json"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
