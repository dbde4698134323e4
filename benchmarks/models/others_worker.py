"""Extra-P, a Gaussian process and a random forest, asked through a pipe.

Runs in an environment of its own (`benchmarks.models.others`): a JSON line in, one out.
``{"fit": FAMILY, "meanings": [...], "at": [[...]], "values": [...]}`` is answered by
``{"seconds": s}``; ``{"ask": [[...]]}`` by ``p50``, ``p5`` and ``p95``, each a list, or
null where there is no interval. What cannot be done is ``{"failed": why}``.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Rows of inputs in; value, lower and upper end out.
Ask = Callable[[Floats], tuple[Floats, Floats | None, Floats | None]]
Fit = Callable[[Sequence[str], Floats, Floats], Ask]
#: Of a normal distribution, 5 and 95 %.
_NINETY = 1.645
_PARALLEL = ("ranks", "nodes", "ranks-per-node")
_LOADS = ("cpu", "bandwidth")


def _ranks(meanings: Sequence[str], at: Floats) -> Floats:
    """Return how many ranks each row has."""
    if "ranks" in meanings:
        return at[:, meanings.index("ranks")]
    own = [i for i, one in enumerate(meanings) if one in _PARALLEL]
    if not own:
        raise ValueError("T p needs ranks, or nodes, among the inputs")
    return np.asarray(np.prod(at[:, own], axis=1))


def _extra_p(*, times_ranks: bool = False, negative: bool = False) -> Fit:
    """Return Extra-P's default modeler; loads are left out, for it wants a grid."""

    def fit(meanings: Sequence[str], at: Floats, values: Floats) -> Ask:
        kept = [i for i, one in enumerate(meanings) if one not in _LOADS]
        factor = _ranks(meanings, at) if times_ranks else np.ones(len(at))
        function = _function(at[:, kept], values * factor, negative=negative)

        def ask(rows: Floats) -> tuple[Floats, None, None]:
            found = [float(function.evaluate(row)) for row in rows[:, kept].tolist()]
            divided = _ranks(meanings, rows) if times_ranks else np.ones(len(rows))
            return np.array(found) / divided, None, None

        return ask

    return fit


def _function(at: Floats, values: Floats, *, negative: bool) -> Any:
    from extrap.entities.callpath import Callpath
    from extrap.entities.coordinate import Coordinate
    from extrap.entities.experiment import Experiment
    from extrap.entities.measurement import Measurement
    from extrap.entities.metric import Metric
    from extrap.entities.parameter import Parameter
    from extrap.modelers.model_generator import ModelGenerator

    whole, metric, experiment = Callpath("main"), Metric("time"), Experiment()
    experiment.add_callpath(whole)
    experiment.add_metric(metric)
    for i in range(at.shape[1]):
        experiment.add_parameter(Parameter(f"x{i}"))
    for row in np.unique(at, axis=0):
        place, same = Coordinate(*row), (at == row).all(axis=1)
        experiment.add_coordinate(place)
        found = values[same].tolist()
        experiment.add_measurement(Measurement(place, whole, metric, found))
    generator = ModelGenerator(experiment, name="benchmark")
    if negative:
        modeler: Any = generator.modeler
        single = getattr(modeler, "single_parameter_modeler", modeler)
        single.allow_negative_exponents = True
    generator.model_all()
    (model,) = generator.models.values()
    return model.hypothesis.function


def _gaussian_process(meanings: Sequence[str], at: Floats, values: Floats) -> Ask:
    """Fit logarithms: a trend, what deviates from it smoothly, and noise."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, DotProduct, WhiteKernel

    logs = np.log(at)
    middle, spread = logs.mean(axis=0), np.maximum(logs.std(axis=0), 1e-9)
    smooth = 0.1 * RBF(np.ones(at.shape[1]), (0.1, 100.0))
    kernel = DotProduct() + smooth + WhiteKernel(1e-3, (1e-6, 1.0))
    process = GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=3, random_state=0
    )
    process.fit((logs - middle) / spread, np.log(values))

    def ask(rows: Floats) -> tuple[Floats, Floats, Floats]:
        at = (np.log(rows) - middle) / spread
        value, deviation = process.predict(at, return_std=True)
        half = _NINETY * deviation
        return np.exp(value), np.exp(value - half), np.exp(value + half)

    return ask


def _forest(meanings: Sequence[str], at: Floats, values: Floats) -> Ask:
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(300, random_state=0, n_jobs=1)
    forest.fit(np.log(at), np.log(values))
    return lambda rows: (np.exp(forest.predict(np.log(rows))), None, None)


FITS: dict[str, Fit] = {
    "extra-p": _extra_p(),
    "extra-p-tp": _extra_p(times_ranks=True),
    "extra-p-negative": _extra_p(negative=True),
    "gaussian-process": _gaussian_process,
    "random-forest": _forest,
}


def _answer(question: dict[str, Any], ask: Ask | None) -> tuple[Ask | None, Any]:
    """Return what later questions ask, and the answer."""
    if "fit" not in question:
        assert ask is not None, "asked before it was fitted"
        value, *ends = ask(np.array(question["ask"]))
        p5, p95 = (None if one is None else one.tolist() for one in ends)
        return ask, {"p50": value.tolist(), "p5": p5, "p95": p95}
    begin = time.process_time()
    at, values = np.array(question["at"]), np.array(question["values"])
    fitted = FITS[question["fit"]](question["meanings"], at, values)
    return fitted, {"seconds": time.process_time() - begin}


def main() -> None:
    """Answer until the input ends."""
    # What the libraries print is not an answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    warnings.simplefilter("ignore")
    ask: Ask | None = None
    for line in sys.stdin:
        try:
            ask, said = _answer(json.loads(line), ask)
        except Exception as error:  # of two libraries: whatever it is, it failed
            said = {"failed": f"{type(error).__name__}: {' '.join(str(error).split())}"}
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    main()
