"""Execute an application only for its relevant phases.

In: a phase signature and how the application is launched. Out: the time of each
phase on the machine that runs it. Ways to do so (`Backend`) are modules of this
package: `live` runs the application until the phases have been measured and stops it.
Papers: PAS2P; Martinez Canillas 2011, chapters 4 and 5.
"""

from skelgen.phase_execution.interface import (
    Application,
    Backend,
    BackendProbe,
    Measured,
    Session,
    WantedOccurrence,
)

__all__ = [
    "Application",
    "Backend",
    "BackendProbe",
    "Measured",
    "Session",
    "WantedOccurrence",
]
