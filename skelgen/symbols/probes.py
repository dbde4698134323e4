"""Let receives of what a probe for any source found count as from any source."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skelgen.events import CallKind, Calls, shape_kinds
from skelgen.events.types import WILDCARD_SOURCE


def with_sources_of_probes(calls: Calls) -> Calls:
    """Return the calls with receives that name the source which a probe told them.

    Probes are no part of the structure, but whether a receive takes a message of
    whoever comes first is. It is the next call, from the same partner.

    Parameters
    ----------
    calls : Calls

    Returns
    -------
    Calls
        The same ones if nobody probes for any source.
    """
    kind = shape_kinds(calls)
    anybody = (calls.shapes["flags"] & WILDCARD_SOURCE) != 0
    probes = (kind == CallKind.PROBE) & anybody
    if not probes.any():
        return calls
    probe = np.flatnonzero(probes[calls.shape[:-1]])
    probe = probe[~np.isin(probe + 1, calls.first)]
    found, taken = calls.shape[probe], calls.shape[probe + 1]
    takes = (
        np.isin(kind, (CallKind.RECEIVE, CallKind.IRECEIVE))[taken] & ~anybody[taken]
    )
    for name in ("communicator", "peer"):
        takes &= calls.shapes[name][found] == calls.shapes[name][taken]
    old, number = np.unique(taken[takes], return_inverse=True)
    rows = calls.shapes[old]
    rows["flags"] |= WILDCARD_SOURCE
    shape = calls.shape.copy()
    shape[probe[takes] + 1] = len(calls.shapes) + number
    return replace(calls, shape=shape, shapes=np.concatenate([calls.shapes, rows]))
