"""Execute the phases of an application and predict its time from them."""

from __future__ import annotations

import logging
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from skelgen.errors import ApplicationError, MachineError, NotBegunError
from skelgen.launch.consent import NO_CONSENT, Consent
from skelgen.launch.hosts import Host
from skelgen.launch.launch_method import NEAREST, Through
from skelgen.phase_execution import Application
from skelgen.phase_execution.application import application_of
from skelgen.phase_execution.backends import choose
from skelgen.phase_execution.estimate import Estimate, estimate
from skelgen.phase_execution.execute import Execution, execute
from skelgen.phase_execution.plan import ExecutedExtent, check_phases
from skelgen.phases.stored import PhaseSignature
from skelgen.pipeline.folder_predictions import keep_answer
from skelgen.pipeline.keep_predictions import (
    Keeping,
    ModelAnswer,
    Subject,
    keep,
    machine_load,
    names,
)
from skelgen.pipeline.page_file import has_any_page
from skelgen.pipeline.phases import phases
from skelgen.pipeline.trust import method_errors
from skelgen.prediction.campaign import placed
from skelgen.prediction.kept import KeptPrediction, KeptSet
from skelgen.prediction.trials import explained, name_of
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trust.intervals import INTERVAL_SEED
from skelgen.trust.types import PHASES

logger = logging.getLogger(__name__)

#: Executions of each image unless told.
_RESTORES = 3


@dataclass(frozen=True, slots=True)
class Measurement:
    """What executing the phases told.

    Attributes
    ----------
    estimate : Estimate
    set_s : float
        Wall time of the measuring (SET) [s].
    aet_s : float or None
        Time of the application (AET) where it is known: on the machine of the
        recording [s].
    backend : str
    about : Subject
        What was predicted.
    """

    estimate: Estimate
    set_s: float
    aet_s: float | None
    backend: str
    about: Subject


def measure(
    source: Path,
    command: Sequence[str] = (),
    *,
    backend: str = "auto",
    hosts: Sequence[Host] = (),
    extent: ExecutedExtent | None = None,
    restores: int | None = None,
    images: Path | None = None,
    through: Through = NEAREST,
    consent: Consent = NO_CONSENT,
    keeping: Keeping | None = None,
    progress: Progress = NO_PROGRESS,
) -> Measurement:
    """Execute the relevant phases of an application and predict its time.

    Parameters
    ----------
    source : Path
        Phase signature: its file, its folder, or the run that it is made of.
    command : sequence of str
        Launch of the application, that of the recording when empty.
    backend : str
        ``auto``, or the name of one.
    hosts : sequence of Host
        Where it runs; where the command says when empty.
    extent : ExecutedExtent, optional
        How much is executed.
    restores : int, optional
        Executions of each image, where there are images; 3 when None.
    images : Path, optional
        Folder where images are kept; they are removed when None.
    through : Through
        How runs reach their hosts.
    consent : Consent
        To a launch that is not the user's own.
    keeping : Keeping, optional
        Where the prediction is kept.
    progress : Progress
    """
    load = machine_load()
    signature = phases(source, progress=progress)
    check_phases(signature)
    folder = (source if source.is_dir() else source.parent).absolute()
    application, doubts = application_of(
        signature,
        command,
        hosts=placed(signature.ranks, hosts),
        runner_of=partial(through.runner, folder=folder) if hosts else None,
        workspace=folder,
        consent=consent,
    )
    name, done = _executed(
        signature,
        application,
        extent or ExecutedExtent(),
        backend=backend,
        restores=restores,
        images=images,
        progress=progress,
    )
    here = not application.elsewhere and platform.node() == signature.provenance.host
    found = estimate(
        signature,
        done.measured,
        np.random.default_rng(INTERVAL_SEED),
        method_errors(),
        doubts,
        done.probes_s,
    )
    _show(folder, signature, application, found)
    about = _keep(keeping, signature, source, application, found, load)
    return Measurement(
        found,
        done.set_s,
        signature.application_s if here and not doubts else None,
        name,
        about,
    )


def _show(
    folder: Path,
    signature: PhaseSignature,
    application: Application,
    found: Estimate,
) -> None:
    """Keep the prediction for the page, in the folder of a skeleton or a run."""
    if not has_any_page(folder):
        return
    where = name_of(application.hosts)
    if application.elsewhere and not application.hosts:
        where = "the hosts of the launch"
    time_s = found.time_s
    one = KeptPrediction(
        made=datetime.now(UTC).isoformat(timespec="milliseconds"),
        command="measure",
        method=PHASES,
        state="done",
        quiet_s=signature.application_s,
        calibrated=False,
        sets=(
            KeptSet(
                where,
                time_s.p50,
                time_s.p5,
                time_s.p95,
                doubts=tuple(map(str, found.doubts)),
            ),
        ),
    )
    keep_answer(folder, one)


def _keep(
    keeping: Keeping | None,
    signature: PhaseSignature,
    source: Path,
    application: Application,
    found: Estimate,
    load: tuple[float, ...],
) -> Subject:
    """Keep the prediction; it is about no hosts where only the launch knows them."""
    hosts = names(application.hosts)
    if application.elsewhere and not application.hosts:
        hosts = ()
    known = signature.provenance
    # With other arguments the inputs of the recording are not those of the run.
    other = any(one.code == "other-arguments" for one in found.doubts)
    subject = Subject(
        PHASES,
        known.application,
        "" if other else known.recorded,
        signature.application_s,
        signature.ranks,
        known.mpi,
        source,
        running_mpi=application.mpi,
        load=load,
    )
    answer = ModelAnswer(found.time_s, found.measured_s, found.doubts, hosts)
    return keep(keeping, subject, [answer])


def _executed(
    signature: PhaseSignature,
    application: Application,
    extent: ExecutedExtent,
    *,
    backend: str,
    restores: int | None,
    images: Path | None,
    progress: Progress,
) -> tuple[str, Execution]:
    """Execute the phases; return the name of the backend that did, and its times."""
    chosen, plan = choose(backend, signature, extent, application, images=images)
    if chosen.name == "live" and (restores, images) != (None, None):
        logger.warning(
            "it runs until its phases come and makes no images: --restores and "
            "--images have no effect; give --backend criu to have some"
        )
    if chosen.name != "live" and extent != ExecutedExtent(extent.warm_up):
        logger.warning(
            "images are of one occurrence of each phase: --occurrences and --share "
            "have no effect; give --backend live to measure more"
        )
    try:
        done = execute(
            chosen,
            application,
            plan,
            restores=restores or _RESTORES,
            progress=progress,
        )
    except NotBegunError:
        raise
    except (ApplicationError, MachineError) as error:
        if application.runner is not None and isinstance(error, ApplicationError):
            told = explained(str(error), application.runner, application.hosts)
            raise ApplicationError(told) from error
        if backend != "auto" or chosen.name == "live":
            raise
        logger.warning("%s; running until its phases come instead", error)
        chosen, plan = choose("live", signature, extent, application)
        done = execute(chosen, application, plan, progress=progress)
    return chosen.name, done
