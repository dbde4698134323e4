"""Read YAML as plain lists, dicts and strings, without trust."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skelgen.documents.files import as_text, read_bytes
from skelgen.documents.seal import check_yaml


def read_document(path: Path) -> str | list[Any] | dict[str, Any]:
    """Read one YAML document.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str, list or dict
        Scalars are strings, whatever they look like.

    Raises
    ------
    InputError
        When the file cannot be read, is not such a document, or is damaged.
    """
    # Loading PyYAML takes a fifth of the start of a command, and few read YAML.
    from skelgen.documents.yaml_events import value_of

    content = read_bytes(path)
    check_yaml(path, content)
    return value_of(path, as_text(path, content))
