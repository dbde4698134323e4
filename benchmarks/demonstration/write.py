"""Make the file of rows that ``skelgen serve --demo`` puts into its store."""

from __future__ import annotations

import contextlib
import gzip
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.demonstration import sources
from skelgen import _paths
from skelgen.errors import InputError
from skelgen.models.families import FAMILIES
from skelgen.models.model import Model as FittedModel
from skelgen.models.model import fit_model, predict_with
from skelgen.pipeline.demonstration import MOMENTS
from skelgen.pipeline.kept_model import document_of, origin_of
from skelgen.pipeline.model import RunSource, good_runs, numbers_of, table_of
from skelgen.pipeline.model_systems import model_on_system
from skelgen.pipeline.model_templates import TemplateRequest, chosen_family
from skelgen.progress import NO_PROGRESS
from skelgen.store import Row, Run, Series, StoredModel, StoredPrediction, open_store
from skelgen.store.lines import content_identity, content_of, to_line
from skelgen.trust import verdict_of

#: Who fitted the models, as the store shows it.
AUTHOR = "demo"
PRODUCT = "matrix-product"
ON_A, ON_B = ("system=cluster-a",), ("system=cluster-b",)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model to keep.

    Attributes
    ----------
    name, application, family : str
    where : tuple of str
    on : str
        System that the others give the form for.
    system : str
        Whose facts a template takes.
    """

    name: str
    application: str
    family: str = "default"
    where: tuple[str, ...] = ()
    on: str = ""
    system: str = ""


#: Polynomials see sizes on four processes; their answers ahead of them are bad.
_CURVE = (*ON_A, "ranks=4")
_POLYNOMIALS = ("linear", "quadratic", "cubic", "poly4", "poly5", "poly6")
_INVERSES = tuple(f"inverse-{one}" for one in range(1, 7))
_UNDER_LOAD = ("rational-small", "rational", "multivariate-1", "multivariate-2")
WANTED = (
    Wanted(PRODUCT, PRODUCT, where=ON_A),
    Wanted(f"{PRODUCT}-on-b", PRODUCT, on="cluster-b"),
    Wanted(f"{PRODUCT}-template", PRODUCT, "template", ON_A, system="cluster-a"),
    Wanted(f"{PRODUCT}-template-b", PRODUCT, "template", ON_B, system="cluster-b"),
    Wanted(f"{PRODUCT}-power", PRODUCT, "power", ON_A),
    Wanted(f"{PRODUCT}-normal-form", PRODUCT, "normal-form", ON_A),
    Wanted(f"{PRODUCT}-workload", PRODUCT, "workload", ON_A),
    *(
        Wanted(f"{PRODUCT}-{one}", PRODUCT, one, _CURVE)
        for one in (*_POLYNOMIALS, *_INVERSES, "least-residual", "least-error")
    ),
    Wanted("kernels", "kernels"),
    Wanted("lammps", "lammps"),
    Wanted("heat2d", "heat2d"),
    Wanted("heat2d-product-of-sums", "heat2d", "product-of-sums"),
    Wanted("conjugate-gradient", "conjugate-gradient"),
    *(
        Wanted(f"conjugate-gradient-{one}", "conjugate-gradient", one)
        for one in _UNDER_LOAD
    ),
    Wanted("pdsyev", "pdsyev"),
    Wanted("pdsyev-analytical", "pdsyev", "analytical"),
    Wanted("fft", "fft"),
)
#: Applications, conditions and families of which runs are predicted before they began.
_AHEAD = (
    *((PRODUCT, ON_A, one) for one in ("default", "normal-form", "power")),
    *((PRODUCT, ON_B, one) for one in ("default",)),
    *(("kernels", (), one) for one in ("default", "cubic")),
    *(("heat2d", (), one) for one in ("default", "product-of-sums")),
    *(("lammps", (), one) for one in ("default",)),
    *(
        (name, (), family)
        for name in ("pdsyev", "fft", "conjugate-gradient")
        for family in ("default", "rational-small")
    ),
)
#: Runs that are known before the first prediction, and time before a run [s].
_FEWEST, _BEFORE_S = 6, 0.2


def write(results: Path, kernels: Path, multicore: Path, real: Path) -> None:
    """Write the file, and say what it holds."""
    rows: list[Row] = [
        *sources.matrix_products(results),
        *sources.systems(results),
        *sources.kernels(kernels),
        *sources.multicore(multicore),
        *sources.under_load(real),
        *sources.by_skeletons(Path("docs/accuracy/results.jsonl")),
    ]
    runs = [one for one in rows if isinstance(one, Run)]
    newest = max(one.started for one in runs)
    rows += sources.drawn_day(newest)
    rows = [_identified(one) for one in rows]
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder, "store.db"))
        with open_store(place) as store:
            store.add(rows)
        factor = _factor(place)
        rows.append(sources.template(factor))
        rows += [_model(place, one, newest) for one in WANTED]
        predictions = [row for one in _AHEAD for row in _ahead(place, *one)]
        rows += map(_identified, predictions)
    text = "\n".join(json.dumps(_line(one), separators=(",", ":")) for one in rows)
    content = gzip.compress(text.encode(), 9, mtime=0)
    _paths.demonstration().write_bytes(content)
    print(
        f"{len(rows)} rows, {len(text) / 1e3:.0f} kB, packed {len(content) / 1e3:.0f}"
    )
    told = {one.family for one in WANTED}
    print("families without a model:", ", ".join(set(FAMILIES) - told) or "none")


def _identified(row: Row) -> Row:
    """Give runs and predictions an identity that stays when moments are moved."""
    if not isinstance(row, Run | StoredPrediction):
        return row
    return replace(row, identity=content_identity(content_of(row)))


def _line(row: Row) -> dict[str, object]:
    """Return a row as a line, with moments in tenths of seconds."""
    known: dict[str, Any] = {
        name: round(moment, 1)
        for name in MOMENTS
        if isinstance(moment := getattr(row, name, None), float)
    }
    if isinstance(row, Series):
        known = {"times": tuple(round(one, 1) for one in row.times)}
    return to_line(replace(row, **known))


def _source(place: str, wanted: Wanted) -> RunSource:
    return RunSource(
        store=place,
        application=wanted.application,
        where=wanted.where,
        system=wanted.on,
    )


def _factor(place: str) -> float:
    """Return how many times ADDM a multiplication of the product takes."""
    model = _fitted(place, WANTED[2])[0]
    return float(dict(model.coefficients)["c"])


def _model(place: str, wanted: Wanted, newest: float) -> Row:
    """Fit a model as `skelgen model fit --name` does."""
    fitted, document = _fitted(place, wanted)
    print(f"{wanted.name}: {fitted.text[:100]}", flush=True)
    return StoredModel(wanted.name, wanted.application, newest, document)


def _fitted(place: str, wanted: Wanted) -> tuple[FittedModel, str]:
    source = _source(place, wanted)
    settings = None
    if wanted.family == "template":
        request = TemplateRequest(sources.FITTED, system=wanted.system, store=place)
        chosen = chosen_family("", request)
        source, settings = chosen.of(source), chosen.settings
    runs = good_runs(source, NO_PROGRESS)
    if wanted.on:
        model, _ = model_on_system(runs, source, wanted.family)
    else:
        model = fit_model(table_of(runs, source), wanted.family, settings)
    return model, document_of(model, AUTHOR, origin_of(source, runs))


def _ahead(
    place: str, application: str, where: tuple[str, ...], family: str
) -> Iterator[StoredPrediction]:
    """Predict each run of a new configuration from all runs that began before it."""
    source = RunSource(store=place, application=application, where=where)
    runs = sorted(good_runs(source, NO_PROGRESS), key=lambda one: one.started)
    seen: set[tuple[tuple[str, float], ...]] = set()
    for at, run in enumerate(runs):
        numbers = numbers_of(run)
        new = tuple(sorted(numbers.items())) not in seen
        seen.add(tuple(sorted(numbers.items())))
        if new and at >= _FEWEST:
            with contextlib.suppress(InputError):
                yield _predicted(runs[:at], run, source, family)


def _predicted(
    before: Sequence[Run], run: Run, source: RunSource, family: str
) -> StoredPrediction:
    """Predict a run.

    Raises
    ------
    InputError
        When runs before it do not say how its inputs act, or the answer is no time.
    """
    table = table_of(before, source)
    model = fit_model(table, family)
    known, asked = {one.name for one in table.inputs}, numbers_of(run)
    for name in set(asked) - known:
        if any(numbers_of(one).get(name) != asked[name] for one in before):
            raise InputError(f"{name} was the same in all runs before")
    said = predict_with(model, asked)
    return StoredPrediction(
        *("model", run.application, said.interval),
        made=run.started - _BEFORE_S,
        verdict=verdict_of(said.doubts),
        doubts=tuple(dict.fromkeys(one.code for one in said.doubts)),
        inputs=run.inputs,
        ranks=run.ranks,
        hosts=run.hosts,
        source=f"all runs before, {family}",
        family=family,
    )
