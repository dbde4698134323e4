"""Write a plan as a C program with its Makefile.

Everything is decided in this room and in `share`; the templates lay out.
"""

from __future__ import annotations

from skelgen.reference.calibration import ComputeCalibration
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.rendering.c_template import fill
from skelgen.skeleton.emit.program import program_text
from skelgen.skeleton.types import Plan


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
        Text of ``skeleton.c`` and ``Makefile``.

    Raises
    ------
    InputError
        When the plan holds what a skeleton cannot repeat.
    """
    return {
        "skeleton.c": program_text(plan, calibration),
        "Makefile": fill("Makefile.j2", flags=" ".join(COMPILER_FLAGS)),
    }
