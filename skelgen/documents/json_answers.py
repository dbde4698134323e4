"""What machines are told, by ``--json`` and by the server, in one form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

#: Version of the answers: it changes when a key is renamed or means another thing, not
#: when one is added.
FORMAT = 2


def answer(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer as JSON has it, after its format; no number becomes null.

    Examples
    --------
    >>> answer({"time_s": float("nan"), "hosts": ("n1",)})
    {'format': 2, 'time_s': None, 'hosts': ['n1']}
    """
    found: dict[str, Any] = plain({"format": FORMAT, **value})
    return found


def plain(value: Any) -> Any:
    """Return a value of mappings, sequences, numbers and text as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
