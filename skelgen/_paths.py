"""Where the files lie that are not Python: templates and the shim's sources.

In a checkout they stand beside the package, in an installed wheel under
``skelgen/_share``.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _shared(name: str) -> Path:
    installed = _PACKAGE / "_share" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def templates() -> Path:
    """Return the folder of the templates."""
    return _shared("templates")


def shim_sources() -> Path:
    """Return the folder of the shim's C sources."""
    return _shared("pmpi_shim")


def system_sources() -> Path:
    """Return the folder of the C sources of the program that measures systems."""
    return _PACKAGE / "systems/program"


def method_errors() -> Path:
    """Return the file of the methods' errors that comes with skelgen."""
    return _PACKAGE / "trust/method_errors.yaml"


def site_method_errors() -> Path:
    """Return the file that replaces it, which need not exist.

    ``SKELGEN_TRUST`` names it, else it is in ``XDG_CONFIG_HOME`` or ``~/.config``.
    """
    if named := os.environ.get("SKELGEN_TRUST"):
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME")
    home = Path(base) if base else Path.home() / ".config"
    return home / "skelgen/method_errors.yaml"


def store_schemas() -> Path:
    """Return the folder of the store's SQL, a file for each version."""
    return _PACKAGE / "store/schema"


def demonstration() -> Path:
    """Return the rows of the example store that comes with skelgen."""
    return _PACKAGE / "pipeline/demonstration.jsonl.gz"


def data() -> Path:
    """Return the folder for what a user keeps.

    It is in ``XDG_DATA_HOME`` or ``~/.local/share``.
    """
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local/share") / "skelgen"


def cache() -> Path:
    """Return the folder for compiled shims and calibrations.

    ``SKELGEN_CACHE`` names it, else ``XDG_CACHE_HOME`` or ``~/.cache``.
    """
    if named := os.environ.get("SKELGEN_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "skelgen"


def state() -> Path:
    """Return the folder for what skelgen remembers of its user.

    ``SKELGEN_STATE`` names it, else ``XDG_STATE_HOME`` or ``~/.local/state``.
    """
    if named := os.environ.get("SKELGEN_STATE"):
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local/state") / "skelgen"
