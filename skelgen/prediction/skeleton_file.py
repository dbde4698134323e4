"""The file ``skeleton.json`` of a skeleton's folder: one type, written and read here.

`SkeletonDescription` is what the file says. A calibration is added to the file as it
stands: what another version of skelgen wrote beside it stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skelgen.documents import Field, read_json, sealed_json
from skelgen.documents.document_field import FieldReaders, read_given
from skelgen.documents.numbers import MOST_RANKS
from skelgen.errors import InputError, NoFileError
from skelgen.launch.folders import replace_file
from skelgen.launch.secrets import hidden
from skelgen.launch.variables import settings_of
from skelgen.matching.waits import WAIT_WORDS, WaitState
from skelgen.prediction.measured_ratio import read_ratio
from skelgen.prediction.skeleton_facts import SkeletonFacts
from skelgen.prediction.types import Calibration
from skelgen.reference.calibration import ComputeCalibration, read_calibration
from skelgen.trust.recording_doubts import read_unseen
from skelgen.trust.skeleton_doubts import read_not_computed
from skelgen.trust.types import PAPER_2005, WHOLE_EVENTS

if TYPE_CHECKING:
    from skelgen.skeleton.types import Plan

FACTS_FILE = "skeleton.json"
#: Version of that file.
_FORMAT = 1

#: Fields of every skeleton; older ones lack the others.
_FIELDS = (
    "ranks", "scaling_factor", "expected_s", "application_s", "smallest_good_s",
    "dropped_share", "mpi", "signature", "command", "calibration",
)  # fmt: skip

_MOST_EVENTS = 1 << 60


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
    compute : ComputeCalibration or None
        Speed of its computation on the machine of the recording; None where an older
        file does not say it.
    host, skelgen : str
        Host of rank 0 in the recorded run, and version that built its signature.
    parameters : tuple of (str, str)
        Options of the build that shaped the signature.
    events : int
        Of the signature, all ranks.
    warnings : tuple of str
        Of the plan.
    """

    facts: SkeletonFacts
    compute: ComputeCalibration | None
    host: str = ""
    skelgen: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    events: int = 0
    warnings: tuple[str, ...] = ()

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
        signature, origin = plan.signature, plan.signature.provenance
        launch = launch or RecordedLaunch()
        facts = SkeletonFacts(
            application=origin.application,
            recorded=origin.recorded,
            mpi=origin.mpi,
            ranks_per_host=tuple(origin.ranks_per_host),
            command=hidden(origin.command),
            folder=launch.folder,
            environment=launch.environment,
            mix_error=mix_error,
            waits=tuple(waits),
            **_planned(plan),
        )
        return cls(
            facts=facts,
            compute=compute,
            host=origin.host,
            skelgen=origin.skelgen,
            parameters=tuple(origin.parameters),
            events=signature.events,
            warnings=tuple(plan.report.warnings),
        )

    @classmethod
    def read(cls, folder: Path) -> SkeletonDescription:
        """Read what is known of the skeleton in a folder.

        Raises
        ------
        InputError
            When the folder holds no skeleton or its description is damaged.
        """
        with _rebuilt():
            return _description(_fields(_document(folder)))

    def text(self) -> str:
        """Return the content of the file."""
        return sealed_json({**self._plan(), **self._run()})

    def _plan(self) -> dict[str, object]:
        """Return what every skeleton says."""
        facts = self.facts
        unseen = {} if facts.unseen is None else {"unseen": facts.unseen.facts()}
        computing = facts.planned_compute_s
        return {
            "format": _FORMAT,
            "application": facts.application,
            "scaling_factor": facts.scaling_factor,
            "method": facts.method,
            "ranks": facts.ranks,
            "application_s": facts.application_s,
            "expected_s": facts.expected_s,
            "mpi": facts.mpi,
            "command": list(facts.command),
            "signature": {
                "host": self.host,
                "recorded": facts.recorded,
                "skelgen": self.skelgen,
                "parameters": dict(self.parameters),
                "ranks_per_host": list(facts.ranks_per_host),
                "events": self.events,
            },
            "dropped_share": facts.dropped_share,
            "smallest_good_s": facts.smallest_good_s,
            "dealers": list(facts.dealers),
            "not_computed": dict(facts.not_computed),
            **unseen,
            **({} if computing is None else {"planned_compute_s": computing}),
            "warnings": list(self.warnings),
            **self._compute(),
            "calibration": None,
        }

    def _compute(self) -> dict[str, object]:
        known = self.compute
        if known is None:
            return {}
        return {"compute": {**asdict(known), "units_per_s": known.units_per_s}}

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
        if facts.calibrations:
            said["calibrations"] = [asdict(one) for one in facts.calibrations]
        return said


def _planned(plan: Plan) -> dict[str, Any]:
    """Return the facts that the plan decides."""
    signature, report = plan.signature, plan.report
    return {
        "ranks": signature.ranks,
        "scaling_factor": plan.scaling_factor,
        "expected_s": report.expected_s,
        "application_s": signature.application_s,
        "smallest_good_s": report.smallest_good_s,
        "dropped_share": report.dropped_share,
        "method": plan.method,
        "dealers": tuple(report.dealers),
        "not_computed": tuple(report.not_computed),
        "unseen": signature.unseen,
        "planned_compute_s": report.compute_s,
    }


def load(folder: Path) -> SkeletonFacts:
    """Read what predictions need of the skeleton in a folder.

    Raises
    ------
    InputError
        When the folder holds no skeleton or its description is damaged.
    """
    return SkeletonDescription.read(folder).facts


def save_calibration(measured: Calibration, folder: Path) -> None:
    """Store the ratio of a skeleton beside it, behind those of earlier calls.

    Raises
    ------
    UsageError
        When the folder cannot be written.
    """
    document = _document(folder)
    known = document.mapping(("command", "calibration"), None)
    content = {
        **document.value,
        "command": hidden(known["command"].texts()),
        "calibration": None,
        "calibrations": [asdict(one) for one in (*_calibrations(known), measured)],
    }
    replace_file(folder / FACTS_FILE, sealed_json(content))


@contextmanager
def _rebuilt() -> Iterator[None]:
    """Say what to do when a description is not what it should be."""
    try:
        yield
    except _NoSkeletonError:
        raise
    except InputError as error:
        raise InputError(f"{error}; build it again with skelgen build") from error


class _NoSkeletonError(InputError):
    """There is no description at all."""


def _document(folder: Path) -> Field:
    path = folder / FACTS_FILE
    if folder.is_file():
        raise _NoSkeletonError(
            f"{folder} is a file; give the folder that skelgen build wrote"
        )
    try:
        document = read_json(path)
    except NoFileError as error:
        raise _NoSkeletonError(
            f"{folder} is not a skeleton's folder (no {FACTS_FILE}); make one with "
            "skelgen build"
        ) from error
    version = document.mapping(("format",), optional=None)["format"]
    version.integer(_FORMAT, _FORMAT)
    return document


def _fields(document: Field) -> dict[str, Field]:
    """Return the fields of a skeleton; older ones call the scaling factor scale."""
    given = document.mapping(optional=None)
    if "scale" in given and "scaling_factor" not in given:
        older = {"scaling_factor": given["scale"].value}
        document = replace(document, value={**document.value, **older})
    return document.mapping(_FIELDS, optional=None)


def _description(known: Mapping[str, Field]) -> SkeletonDescription:
    origin = known["signature"].mapping(("ranks_per_host",), optional=None)
    compute = read_calibration(known["compute"]) if "compute" in known else None
    return SkeletonDescription(
        facts=_facts(known, origin),
        compute=compute,
        **read_given(origin, _OF_SIGNATURE),
        **read_given(known, {"warnings": Field.texts}),
    )


def _facts(known: Mapping[str, Field], origin: Mapping[str, Field]) -> SkeletonFacts:
    ranks = known["ranks"].integer(1, MOST_RANKS)
    calibrations, hosts = _calibrations(known), origin["ranks_per_host"].items()
    folder, environment = _launch(known.get("launch"))
    return SkeletonFacts(
        ranks=ranks,
        scaling_factor=known["scaling_factor"].positive(),
        expected_s=known["expected_s"].positive(),
        application_s=known["application_s"].positive(),
        smallest_good_s=known["smallest_good_s"].number(),
        dropped_share=known["dropped_share"].number(),
        mpi=known["mpi"].text(),
        ranks_per_host=tuple(one.integer(0, MOST_RANKS) for one in hosts),
        command=hidden(known["command"].texts()),
        folder=folder,
        environment=environment,
        calibration=calibrations[-1] if calibrations else None,
        calibrations=calibrations,
        dealers=tuple(_integers(known.get("dealers"), ranks - 1)),
        **read_given(known, _OF_SKELETON),
        **read_given(origin, {"recorded": Field.text}),
    )


def _integers(field: Field | None, most: int) -> Iterator[int]:
    for one in () if field is None else field.items():
        yield one.integer(0, most)


def _wait(field: Field) -> WaitState:
    names = ("kind", "function", "calls", "time_s", "behind", "behind_s")
    parts = field.mapping(names, None)
    kinds = {words: kind for kind, words in WAIT_WORDS.items()}
    if (kind := kinds.get(parts["kind"].text())) is None:
        raise parts["kind"].error(f"expected {' or '.join(kinds)}")
    return WaitState(
        kind=kind,
        function=parts["function"].text(),
        calls=parts["calls"].integer(0, _MOST_EVENTS),
        time_s=parts["time_s"].amount(),
        behind=parts["behind"].integer(0, MOST_RANKS),
        behind_s=parts["behind_s"].amount(),
    )


def _method(field: Field) -> str:
    known = (WHOLE_EVENTS, PAPER_2005)
    if (method := field.text()) not in known:
        raise field.error(f"read {method[:60]!r}, expected {' or '.join(known)}")
    return method


def _launch(field: Field | None) -> tuple[str, tuple[tuple[str, str], ...]]:
    if field is None:
        return "", ()
    parts = field.mapping(("folder", "environment"), optional=None)
    settings = parts["environment"]
    return parts["folder"].text(), settings_of(settings, settings.pairs())


def _calibrations(known: Mapping[str, Field]) -> tuple[Calibration, ...]:
    """Read all calibrations, the oldest first; older files have one at most."""
    one, several = known["calibration"], known.get("calibrations")
    found = [] if one.is_null() else [one]
    found += [] if several is None else several.items()
    return tuple(map(read_ratio, found))


_OF_SIGNATURE: FieldReaders = {
    "host": Field.text,
    "skelgen": Field.text,
    "parameters": Field.pairs,
    "events": lambda field: field.integer(0, _MOST_EVENTS),
}
_OF_SKELETON: FieldReaders = {
    "mix_error": Field.number,
    "method": _method,
    "not_computed": read_not_computed,
    "unseen": read_unseen,
    "application": Field.text,
    "waits": lambda field: tuple(map(_wait, field.items())),
    "planned_compute_s": Field.amount,
}
