"""What ``skeleton.json`` says of a skeleton that was just built: written here, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skelgen.documents import sealed_json
from skelgen.launch.secrets import hidden
from skelgen.matching.waits import WAIT_WORDS, WaitState
from skelgen.prediction.types import SkeletonFacts
from skelgen.reference.compute import ComputeCalibration
from skelgen.signature import Signature
from skelgen.signature.types import Provenance
from skelgen.skeleton.types import Plan

FACTS_FILE = "skeleton.json"
#: Version of that file.
FORMAT = 1


@dataclass(frozen=True, slots=True)
class RecordedLaunch:
    """How the application was started when it was recorded.

    Attributes
    ----------
    folder : str
        Working directory; empty where it is not known.
    environment : tuple of (str, str)
        Variables that change how MPI behaves.
    """

    folder: str = ""
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SkeletonDescription:
    """All that is known of a skeleton.

    Attributes
    ----------
    facts : SkeletonFacts
        What predictions need.
    compute : ComputeCalibration
        Speed of its computation on the machine of the recording.
    provenance : Provenance
        Of its signature.
    events : int
        Of the signature, all ranks.
    warnings : tuple of str
        Of the plan.
    """

    facts: SkeletonFacts
    compute: ComputeCalibration
    provenance: Provenance
    events: int
    warnings: tuple[str, ...]

    @classmethod
    def of(
        cls,
        plan: Plan,
        compute: ComputeCalibration,
        *,
        launch: RecordedLaunch | None = None,
        mix_error: float | None = None,
        waits: Sequence[WaitState] = (),
    ) -> SkeletonDescription:
        """Describe the skeleton of a plan.

        Parameters
        ----------
        plan : Plan
        compute : ComputeCalibration
        launch : RecordedLaunch, optional
        mix_error : float, optional
            How unlike the application's computation the skeleton's is [1].
        waits : sequence of WaitState
            How long the ranks of the recorded run waited for each other.
        """
        signature, report = plan.signature, plan.report
        launch = launch or RecordedLaunch()
        facts = SkeletonFacts(
            ranks=signature.ranks,
            scaling_factor=plan.scaling_factor,
            expected_s=report.expected_s,
            application_s=signature.application_s,
            smallest_good_s=report.smallest_good_s,
            dropped_share=report.dropped_share,
            folder=launch.folder,
            environment=launch.environment,
            calibration=None,
            mix_error=mix_error,
            method=plan.method,
            dealers=tuple(report.dealers),
            not_computed=tuple(report.not_computed),
            unseen=signature.unseen,
            waits=tuple(waits),
            **_recorded(signature),
        )
        return cls(
            facts,
            compute,
            signature.provenance,
            signature.events,
            tuple(report.warnings),
        )

    def text(self) -> str:
        """Return the content of the file."""
        return sealed_json({**self._plan(), **self._run()})

    def _plan(self) -> dict[str, object]:
        """Return what every skeleton says."""
        facts, origin = self.facts, self.provenance
        unseen = {} if facts.unseen is None else {"unseen": facts.unseen.facts()}
        return {
            "format": FORMAT,
            "application": facts.application,
            "scaling_factor": facts.scaling_factor,
            "method": facts.method,
            "ranks": facts.ranks,
            "application_s": facts.application_s,
            "expected_s": facts.expected_s,
            "mpi": facts.mpi,
            "command": list(facts.command),
            "signature": {
                "host": origin.host,
                "recorded": facts.recorded,
                "skelgen": origin.skelgen,
                "parameters": dict(origin.parameters),
                "ranks_per_host": list(facts.ranks_per_host),
                "events": self.events,
            },
            "dropped_share": facts.dropped_share,
            "smallest_good_s": facts.smallest_good_s,
            "dealers": list(facts.dealers),
            "not_computed": dict(facts.not_computed),
            **unseen,
            "warnings": list(self.warnings),
            "compute": {
                **asdict(self.compute),
                "units_per_s": self.compute.units_per_s,
            },
            "calibration": None,
        }

    def _run(self) -> dict[str, object]:
        """Return what is known where the skeleton is of a run, not a signature."""
        facts, said = self.facts, dict[str, object]()
        if facts.folder or facts.environment:
            environment = dict(facts.environment)
            said["launch"] = {"folder": facts.folder, "environment": environment}
        if facts.mix_error is not None:
            said["mix_error"] = facts.mix_error
        if facts.waits:
            said["waits"] = [
                {**asdict(one), "kind": WAIT_WORDS[one.kind]} for one in facts.waits
            ]
        return said


def _recorded(signature: Signature) -> dict[str, Any]:
    """Return the facts that the recording tells."""
    origin = signature.provenance
    return {
        "application": origin.application,
        "recorded": origin.recorded,
        "mpi": origin.mpi,
        "ranks_per_host": tuple(origin.ranks_per_host),
        "command": hidden(origin.command),
    }
