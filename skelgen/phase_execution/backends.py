"""The backends by name, and which one is best for an application."""

from __future__ import annotations

import logging
from pathlib import Path

from skelgen.errors import MachineError
from skelgen.phase_execution.criu import CriuBackend
from skelgen.phase_execution.interface import Application, Backend
from skelgen.phase_execution.live import Live
from skelgen.phase_execution.plan import (
    ExecutedExtent,
    ExecutionPlan,
    by_images,
    check_pays,
    in_one_run,
)
from skelgen.phase_execution.thresholds import LARGEST_PAYING_SHARE
from skelgen.phases.stored import PhaseSignature

logger = logging.getLogger(__name__)


def backends(
    *, fetching: bool = False, images: Path | None = None
) -> dict[str, Backend]:
    """Return all backends by name.

    Parameters
    ----------
    fetching : bool
        Whether they may fetch tools that they need over the network.
    images : Path, optional
        Folder where images are kept; they are removed when None.
    """
    found = (Live(), CriuBackend(fetching, images))
    return {one.name: one for one in found}


def choose(
    name: str,
    signature: PhaseSignature,
    extent: ExecutedExtent,
    application: Application,
    *,
    images: Path | None = None,
) -> tuple[Backend, ExecutionPlan]:
    """Choose the backend, and what it executes.

    Parameters
    ----------
    name : str
        ``auto``: `live`, unless the trace tells that the phases come late and images
        can be made here and are kept: making them takes a run as long as `live`.
    signature : PhaseSignature
    extent : ExecutedExtent
    application : Application
    images : Path, optional
        Folder where images are kept; they are removed when None.

    Raises
    ------
    InputError
        When running until the phases come does not pay.
    MachineError
        When the backend that was named does not work here.
    """
    # What was not asked for by name fetches nothing.
    found = backends(fetching=name != "auto", images=images)
    live = in_one_run(signature, extent)
    if name == "auto":
        late = live.expected_s > LARGEST_PAYING_SHARE * signature.application_s
        if images is not None and late and not application.elsewhere:
            if (probe := found["criu"].probe(application)).works:
                return found["criu"], by_images(signature, extent)
            logger.warning("no images: %s", probe.text)
        name = Live.name
    if name == Live.name:
        check_pays(signature, live, extent)
        return found[name], live
    if not (probe := found[name].probe(application)).works:
        raise MachineError(f"--backend {name}: {probe.text}")
    return found[name], by_images(signature, extent)
