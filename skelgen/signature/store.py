"""Signatures on disk: the only module that knows how they are kept."""

from __future__ import annotations

import re
from pathlib import Path

from skelgen.documents.text_of_bytes import shown
from skelgen.launch.folders import replace_file
from skelgen.signature.read import expect_signature, read_signature
from skelgen.signature.types import Signature
from skelgen.signature.write import signature_text
from skelgen.units import format_seconds

#: How the file begins.
SIGNATURE_BEGINS = re.compile(
    rb"(#[^\n]*\n)?(# An execution signature;|skelgen_signature:)"
)
_YAML = (".yaml", ".yml")


def load(path: Path) -> Signature:
    """Read a signature.

    Parameters
    ----------
    path : Path
        A YAML file, or a folder with a ``signature.yaml``.

    Returns
    -------
    Signature

    Raises
    ------
    InputError
        When there is none, or it is damaged: one line with file and field.
    """
    return read_signature(expect_signature(Path(path)))


def save(signature: Signature, path: Path) -> Path:
    """Write a signature; equal signatures give the same bytes.

    Parameters
    ----------
    signature : Signature
    path : Path
        A file that ends in ``.yaml``, or else a folder, which gets a
        ``signature.yaml`` and a ``README.md`` about it.

    Returns
    -------
    Path
        The YAML file. It appears when it is complete.

    Raises
    ------
    UsageError
        When it cannot be written there.
    """
    path = Path(path)
    files = {path: signature_text(signature)}
    if path.suffix not in _YAML:
        files = {
            path / "README.md": _readme(path.name, signature),
            path / "signature.yaml": files[path],
        }
    for file, text in files.items():
        replace_file(file, text)
    return list(files)[-1]


def _readme(name: str, signature: Signature) -> str:
    known = signature.provenance
    command = " ".join(known.command) or "recorded by hand"
    items = sum(len(group.nest) for group in signature.groups)
    return shown(f"""# {name}

Execution signature of {known.application}: {signature.ranks} ranks,
{signature.events} MPI calls in {format_seconds(signature.application_s)}, kept as
{items} items of loop nests.

- command: `{command}`
- MPI: {known.mpi}
- host: {known.host}
- recorded: {known.recorded}
- built by skelgen {known.skelgen}

Build a skeleton from it:

    skelgen build {name}/ --scale 100
""")
