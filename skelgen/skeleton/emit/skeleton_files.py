"""Write a plan as a C program with its Makefile and metadata.

Everything is decided in this room and in `share`; the templates lay out.
"""

from __future__ import annotations

from dataclasses import asdict

from skelgen.documents import sealed_json
from skelgen.reference.compute import COMPILER_FLAGS, ComputeCalibration
from skelgen.rendering.c_template import fill
from skelgen.skeleton.emit.program import program_text
from skelgen.skeleton.types import Plan

#: Version of ``skeleton.json`` and of what the skeleton prints.
FORMAT = 1


def render(plan: Plan, *, calibration: ComputeCalibration) -> dict[str, str]:
    """Write a plan as files.

    Parameters
    ----------
    plan : Plan
    calibration : ComputeCalibration
        Speed of the compute operation on the machine of the recording.

    Returns
    -------
    dict of str to str
        Text of ``skeleton.c``, ``Makefile`` and ``skeleton.json``.

    Raises
    ------
    InputError
        When the plan holds what a skeleton cannot repeat.
    """
    return {
        "skeleton.c": program_text(plan, calibration),
        "Makefile": fill("Makefile.j2", flags=" ".join(COMPILER_FLAGS)),
        "skeleton.json": sealed_json(_metadata(plan, calibration)),
    }


def _metadata(plan: Plan, calibration: ComputeCalibration) -> dict[str, object]:
    """Return what ``skeleton.json`` says about a skeleton."""
    signature, report = plan.signature, plan.report
    return {
        "format": FORMAT,
        "application": signature.provenance.application,
        "scale": plan.scaling_factor,
        "method": plan.method,
        "ranks": signature.ranks,
        "application_s": signature.application_s,
        "expected_s": report.expected_s,
        "mpi": signature.provenance.mpi,
        "command": list(signature.provenance.command),
        "signature": {
            "host": signature.provenance.host,
            "recorded": signature.provenance.recorded,
            "skelgen": signature.provenance.skelgen,
            "parameters": dict(signature.provenance.parameters),
            "ranks_per_host": list(signature.provenance.ranks_per_host),
            "events": signature.events,
        },
        "dropped_share": report.dropped_share,
        "smallest_good_s": report.smallest_good_s,
        "dealers": list(report.dealers),
        "not_computed": dict(report.not_computed),
        **({} if signature.unseen is None else {"unseen": signature.unseen.facts()}),
        "warnings": list(report.warnings),
        "compute": {**asdict(calibration), "units_per_s": calibration.units_per_s},
        "calibration": None,
    }
