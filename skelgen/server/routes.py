"""All addresses of the server: what each needs, and who answers.

The application is built from this table and from nothing else; tests make their
requests from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from skelgen.results.base import Result
from skelgen.results.load_forecasts import StoreLoadsResult
from skelgen.results.measured_systems import (
    SystemCompareResult,
    SystemHistoryResult,
    SystemListResult,
    SystemShowResult,
)
from skelgen.results.model_answers import ModelPredictResult, ModelTemplateResult
from skelgen.results.model_couplings import ModelCoupleResult
from skelgen.results.model_curves import ModelCurveResult
from skelgen.results.models_listed import ModelListResult, ModelShowResult
from skelgen.results.server_answers import (
    ServerAboutResult,
    ServerApplicationsResult,
    ServerJobResult,
    ServerJobsResult,
    ServerKnownResult,
    ServerPredictionsResult,
    ServerRowResult,
    ServerTemplatesResult,
)
from skelgen.results.stored_runs import StoreCompareResult, StoreShowResult
from skelgen.results.stores import (
    StoreAddResult,
    StoreExpectResult,
    StoreListResult,
    StoreRemoveResult,
)
from skelgen.server import (
    api,
    api_compare,
    api_jobs,
    api_loads,
    api_modelling,
    api_remote,
    api_systems,
    changes,
    downloads,
    pages,
    pages_compare,
    pages_couplings,
    pages_curve,
    pages_default,
    pages_jobs,
    pages_loads,
    pages_recording,
    pages_refit,
    pages_systems,
    pages_templates,
    pages_uploads,
)
from skelgen.server.openapi import described
from skelgen.server.settings import Answer, Question, Sent
from skelgen.server.tokens import Right


@dataclass(frozen=True, slots=True)
class Route:
    """An address.

    Attributes
    ----------
    method : str
        ``GET`` changes nothing.
    path : str
        Named parts are in braces.
    right : Right
        What is needed.
    handler : callable
    query : tuple of str
        Names of what may be asked for.
    several : tuple of str
        Those of them that may be given more than once.
    long : bool
        Sends or gets files: it has more time, and its body may be larger.
    answers : tuple of types of Result
        What it answers, one of them; none where it answers no results.
    """

    method: str
    path: str
    right: Right
    handler: Callable[[Question], Answer]
    query: tuple[str, ...] = ()
    several: tuple[str, ...] = ()
    long: bool = False
    answers: tuple[type[Result], ...] = ()

    @property
    def is_api(self) -> bool:
        """Say whether it answers machines."""
        return self.path.startswith("/api/")

    @property
    def changes(self) -> bool:
        """Say whether it may change something."""
        return self.method != "GET"

    @property
    def takes_files(self) -> bool:
        """Say whether a form with files is sent there."""
        return self.long and self.changes


_RUNS = ("app", "where", "system", "host", "since", "until", "order", "part")
_CURVE = pages_curve.CURVE_FIELDS
_DEFAULT = pages_default.DEFAULT_FIELDS
_PREDICTIONS = ("app", "method", "verdict", "part")
_OPEN, _READ, _ADD, _ADMINISTER = Right


def _description(question: Question) -> Answer:
    """Describe the API, in the form of OpenAPI 3.1."""
    found = described(ROUTES, question.settings.prefix)
    return Sent(json.dumps(found, allow_nan=False).encode("ascii"), "application/json")


#: The way in (`skelgen.server.sign_in`) is not here: it shows nothing of the store.
ROUTES: tuple[Route, ...] = (
    Route("GET", "/health", _OPEN, pages.health),
    Route("GET", "/style.css", _OPEN, pages.style),
    Route("GET", "/script.js", _OPEN, pages.page_script),
    Route("GET", "/icon.svg", _OPEN, pages.tab_icon),
    Route("GET", "/", _READ, pages.overview),
    Route("GET", "/applications", _READ, pages.applications),
    Route("GET", "/runs", _READ, pages.runs, (*_RUNS, "column"), ("column",)),
    Route("POST", "/runs", _ADD, changes.add_typed),
    Route("GET", "/runs.jsonl", _READ, downloads.runs_as_lines, _RUNS, long=True),
    Route("GET", "/runs.csv", _READ, downloads.runs_as_table, _RUNS, long=True),
    Route("GET", "/upload", _READ, pages_uploads.upload_form),
    Route("POST", "/upload", _ADD, pages_uploads.add_files, long=True),
    Route("GET", "/runs/{identity}", _READ, pages_recording.run),
    Route("GET", "/runs/{identity}/recording", _READ, pages_recording.recording),
    Route(
        *("GET", "/runs/{identity}/recording.html", _READ),
        pages_recording.recording_file,
    ),
    Route("GET", "/runs/{identity}/loads.svg", _READ, pages.run_loads),
    Route("GET", "/runs/{identity}/run.jsonl", _READ, downloads.run_as_line),
    Route("GET", "/runs/{identity}/run.csv", _READ, downloads.run_as_table),
    Route("GET", "/runs/{identity}/remove", _READ, changes.ask_removal),
    Route("POST", "/runs/{identity}/remove", _ADMINISTER, changes.remove),
    Route("GET", "/compare", _READ, pages_compare.compare, ("run",), ("run",)),
    Route("GET", "/models", _READ, pages.models),
    Route("GET", "/models/{identity}", _READ, pages_refit.model),
    Route("POST", "/models/{identity}/again", _ADD, pages_refit.again),
    Route("POST", "/models/{identity}/compare", _ADD, pages_refit.compare),
    Route("GET", "/models/{identity}/picture.svg", _READ, pages.picture),
    Route("GET", "/models/{identity}/model.json", _READ, downloads.model_file),
    Route("GET", "/models/{identity}/model.html", _READ, downloads.model_page),
    Route("GET", "/models/{identity}/model.svg", _READ, downloads.model_picture),
    Route(
        *("GET", "/predictions.jsonl", _READ, downloads.predictions_as_lines),
        query=("app",),
        long=True,
    ),
    Route("GET", "/templates", _READ, pages_templates.templates),
    Route("GET", "/templates/{identity}", _READ, pages_templates.template),
    Route(
        "GET",
        "/model/template",
        _READ,
        pages_templates.model_template,
        pages_templates.TEMPLATE_FIELDS,
    ),
    Route(
        "GET", "/couplings", _READ, pages_couplings.couplings, pages_couplings.LISTED
    ),
    Route(
        "GET",
        "/model/coupling",
        _READ,
        pages_couplings.model_coupling,
        pages_couplings.COUPLING_FIELDS,
    ),
    Route("POST", "/model/template/keep", _ADD, pages_templates.keep_template),
    Route("GET", "/predictions", _READ, pages.predictions, _PREDICTIONS),
    Route(
        "GET",
        "/predictions/picture.svg",
        _READ,
        pages.predictions_picture,
        _PREDICTIONS,
    ),
    Route("GET", "/systems", _READ, pages_systems.systems, ("with",), ("with",)),
    Route("GET", "/systems/{name}", _READ, pages_systems.system),
    Route("GET", "/systems/{name}/messages.svg", _READ, pages_systems.messages),
    Route("GET", "/systems/{name}/history", _READ, pages_systems.history, ("fact",)),
    Route(
        "GET",
        "/systems/{name}/history.svg",
        _READ,
        pages_systems.history_picture,
        ("fact",),
    ),
    Route("GET", "/loads", _READ, pages_loads.loads, pages_loads.LOAD_PAGE_FIELDS),
    Route(
        "GET",
        "/loads/picture.svg",
        _READ,
        pages_loads.picture,
        pages_loads.LOAD_PAGE_FIELDS,
    ),
    Route("GET", "/ask", _READ, pages.ask, pages.ASK_FIELDS),
    Route(
        *("GET", "/api/server", _READ, api_remote.about),
        answers=(ServerAboutResult,),
    ),
    Route(
        *("GET", "/api/rows/{identity}", _READ, api_remote.row),
        answers=(ServerRowResult,),
    ),
    Route(
        *("POST", "/api/known", _ADD, api_remote.known),
        answers=(ServerKnownResult,),
    ),
    Route("GET", "/model/curve", _READ, pages_curve.curve, _CURVE),
    Route("GET", "/model/curve/picture.svg", _READ, pages_curve.picture, _CURVE),
    Route("GET", "/model/curve/residuals.svg", _READ, pages_curve.residuals, _CURVE),
    Route("POST", "/model/curve/keep", _ADD, pages_curve.keep),
    Route("POST", "/model/curve/compare", _ADD, pages_curve.compare),
    Route(
        *("GET", "/api/model/curve", _READ, pages_curve.facts, _CURVE),
        answers=(ModelCurveResult,),
    ),
    Route("GET", "/model/default", _READ, pages_default.default, _DEFAULT),
    Route("GET", "/model/default/picture.svg", _READ, pages_default.picture, _DEFAULT),
    Route(
        "GET", "/model/default/residuals.svg", _READ, pages_default.residuals, _DEFAULT
    ),
    Route("POST", "/model/default/keep", _ADD, pages_default.keep),
    Route("POST", "/model/default/compare", _ADD, pages_default.compare),
    Route(
        *("GET", "/api/model/default", _READ, pages_default.facts, _DEFAULT),
        answers=(ModelCurveResult,),
    ),
    Route("GET", "/jobs", _READ, pages_jobs.jobs),
    Route("GET", "/jobs/{identity}", _READ, pages_jobs.job),
    Route("POST", "/jobs/{identity}/cancel", _ADD, pages_jobs.cancel),
    Route("GET", "/api/jobs", _READ, api_jobs.jobs, answers=(ServerJobsResult,)),
    Route("POST", "/api/jobs", _ADD, api_jobs.add_job, answers=(ServerJobResult,)),
    Route(
        *("GET", "/api/jobs/{identity}", _READ, api_jobs.job),
        answers=(ServerJobResult,),
    ),
    Route(
        *("DELETE", "/api/jobs/{identity}", _ADD, api_jobs.cancel_job),
        answers=(ServerJobResult,),
    ),
    Route(
        *("GET", "/api/applications", _READ, api.applications),
        answers=(ServerApplicationsResult,),
    ),
    Route("GET", "/api/runs", _READ, api.runs, _RUNS, answers=(StoreListResult,)),
    Route("POST", "/api/runs", _ADD, changes.add_lines, answers=(StoreAddResult,)),
    Route(
        *("POST", "/api/files", _ADD, pages_uploads.add_files_for_machines),
        long=True,
        answers=(StoreAddResult,),
    ),
    Route(
        *("GET", "/api/runs/{identity}", _READ, api.run),
        answers=(StoreShowResult,),
    ),
    Route(
        *("DELETE", "/api/runs/{identity}", _ADMINISTER, changes.remove_row),
        answers=(StoreRemoveResult,),
    ),
    Route(
        *("GET", "/api/compare", _READ, api_compare.compare, ("run",), ("run",)),
        answers=(StoreCompareResult,),
    ),
    Route(
        *("GET", "/api/models", _READ, api.models, ("app",)),
        answers=(ModelListResult,),
    ),
    Route(
        *("GET", "/api/models/{identity}", _READ, api.model),
        answers=(ModelShowResult,),
    ),
    Route(
        *("GET", "/api/templates", _READ, api_modelling.templates),
        answers=(ServerTemplatesResult,),
    ),
    Route(
        *("GET", "/api/model/template", _READ, api_modelling.template),
        query=api_modelling.TEMPLATE_ASKED,
        answers=(ModelTemplateResult,),
    ),
    Route(
        *("GET", "/api/model/coupling", _READ, api_modelling.coupling),
        query=api_modelling.COUPLING,
        answers=(ModelCoupleResult,),
    ),
    Route(
        *("GET", "/api/predictions", _READ, api.predictions, _PREDICTIONS),
        answers=(ServerPredictionsResult,),
    ),
    Route(
        *("GET", "/api/systems", _READ, api_systems.systems, ("with",), ("with",)),
        answers=(SystemListResult, SystemCompareResult),
    ),
    Route(
        *("GET", "/api/systems/{name}", _READ, api_systems.system),
        answers=(SystemShowResult,),
    ),
    Route(
        *("GET", "/api/systems/{name}/history", _READ, api_systems.history, ("fact",)),
        answers=(SystemHistoryResult,),
    ),
    Route(
        *("GET", "/api/loads", _READ, api_loads.loads, pages_loads.LOAD_PAGE_FIELDS),
        answers=(StoreLoadsResult,),
    ),
    Route(
        *("GET", "/api/ask", _READ, api.ask, pages.ASK_FIELDS),
        answers=(StoreExpectResult, ModelPredictResult),
    ),
    Route("GET", "/api/openapi.json", _READ, _description),
)
