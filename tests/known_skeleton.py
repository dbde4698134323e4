"""What is known of a skeleton that was never made, for predictions of it."""

from __future__ import annotations

from skelgen.prediction.skeleton_facts import SkeletonFacts
from skelgen.prediction.types import Calibration

MEASURED = Calibration(
    application_runs_s=(20.0, 20.2, 19.8),
    skeleton_runs_s=(2.0, 2.02, 1.98),
    host="ref",
    mpi="MPICH 5.0.2",
    load=(0.0, 0.0, 0.0),
    recorded=False,
)
FACTS = SkeletonFacts(
    ranks=2,
    scaling_factor=10.0,
    expected_s=2.1,
    application_s=20.5,
    smallest_good_s=0.5,
    dropped_share=0.001,
    mpi="MPICH Version: 5.0.2",
    ranks_per_host=(2,),
    command=("mpirun", "-n", "2", "./app"),
    folder="/somewhere",
    environment=(),
    calibration=MEASURED,
    application="app",
)
