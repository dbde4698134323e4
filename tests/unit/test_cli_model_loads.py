"""The command model predict under loads: forecast, measured, felt by a skeleton."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from skelgen.launch.hosts import Host
from skelgen.pipeline import forecast_record
from skelgen.pipeline.predict import Predicted
from skelgen.prediction import Failure, Prediction
from skelgen.store import Run, Series, open_store
from skelgen.trust import Doubt, Interval

BEGIN = 1_700_000_000


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


def law(n, cpu=1.0, bandwidth=1.0):
    return 1e-9 * n**3 / cpu + 4e-6 * n**2 / (bandwidth * cpu**0.5)


@pytest.fixture
def loaded(tmp_path):
    """Return a study under loads."""
    random, path = np.random.default_rng(2), tmp_path / "runs.csv"
    lines = ["n,cpu,bandwidth,time_s"]
    for n in (1000, 1500, 2000, 3000, 4000, 5000):
        for _ in range(4):
            cpu, bandwidth = random.uniform(0.2, 1, 2).round(3)
            lines.append(f"{n},{cpu},{bandwidth},{law(n, cpu, bandwidth):.5f}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def quiet(tmp_path):
    path = tmp_path / "quiet.csv"
    sizes = (1000, 1500, 2000, 3000, 4000, 5000)
    path.write_text("n,time_s\n" + "".join(f"{n},{law(n):.5f}\n" for n in sizes))
    return path


@pytest.fixture
def series(tmp_path):
    """Return a day of loads: short ones, so that the future is well known."""
    random, path = np.random.default_rng(4), tmp_path / "loads.csv"
    values = random.uniform(0.4, 0.6, (1500, 3)).round(4)
    lines = [f"{BEGIN + 60 * i},{a},{b},{c}" for i, (a, b, c) in enumerate(values)]
    path.write_text("\n".join(["time,n1,n2,n1-n2", *lines]) + "\n")
    return path


def said(capsys, *words, code=0):
    assert run([*map(str, words), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def codes(found):
    return [one["code"] for one in found["doubts"]]


def test_a_load_is_forecast_for_the_time_that_it_leads_to(loaded, series, capsys):
    words = ("model", "predict", loaded, "--at", "n=6000", "--load", "forecast")
    found = said(capsys, *words, "--series", series)
    load = found["load"]
    assert load["source"] == "forecast"
    assert load["horizon_s"] == pytest.approx(found["value"], rel=0.02)
    assert load["cpu"] == pytest.approx(0.467, abs=0.02)  # of the smaller of two
    assert load["bandwidth"] == pytest.approx(0.5, abs=0.02)
    truth = law(6000, load["cpu"], load["bandwidth"])
    assert found["value"] == pytest.approx(truth, rel=0.1)
    typed = f"cpu={load['cpu']},bandwidth={load['bandwidth']}"
    exact = said(capsys, *words[:5], "--load", typed)
    assert found["p95"] > exact["p95"]
    kept = [one.kept.horizon_s for one in forecast_record.outcomes()]
    assert kept == [load["horizon_s"]] * 2


def test_one_node_needs_no_links_and_two_without_series_are_doubted(
    loaded, series, capsys
):
    lines = [line.rsplit(",", 1)[0] for line in series.read_text().splitlines()]
    series.write_text("\n".join(lines) + "\n")
    words = ("model", "predict", loaded, "--at", "n=6000", "--load", "forecast")
    found = said(capsys, *words, "--series", series)
    assert "bandwidth-unknown" in codes(found)
    assert "no bandwidth of n1-n2" in found["load"]["missing"]
    found = said(capsys, *words, "--series", series, "--nodes", "n1")
    assert codes(found) == []


def test_a_bandwidth_in_bytes_is_refused_as_a_part(loaded, series, capsys):
    cells = [line.split(",") for line in series.read_text().splitlines()[1:]]
    rows = [",".join([*row[:3], "1e8"]) for row in cells]
    series.write_text("\n".join(["time,n1,n2,n1-n2", *rows]) + "\n")
    words = ["model", "predict", str(loaded), "--at", "n=6000", "--load", "forecast"]
    assert run([*words, "--series", str(series)]) == ExitCode.INPUT
    error = capsys.readouterr().err
    assert "bandwidth is 1e+08, expected a part that is left" in error
    assert error.count("\n") == 1


def test_series_of_the_store_forecast_and_tell_of_the_past(loaded, tmp_path, capsys):
    place, now = str(tmp_path / "s.db"), time.time()
    times = tuple(now - 60 * (900 - i) for i in range(900))
    half, quarter = (0.5,) * 900, (0.25,) * 900
    with open_store(place) as store:
        store.add([Series("n1", "cpu", times, half), Series("n2", "cpu", times, half)])
        store.add([Series("n1-n2", "bandwidth", times, quarter)])
        store.add([Run("app", 600.0, started=now - 7200, hosts=("n1", "n2"))])
        loads = (("bandwidth_avg_min", 0.75), ("cpu_avg_min", 0.3))
        store.add([Run("other", 9.0, started=now, loads=loads)])
        ids = {one.application: one.identity for one in store.runs()}
    words = ("model", "predict", loaded, "--at", "n=4500", "--store", place, "--load")
    found = said(capsys, *words, "forecast", "--nodes", "n[1-2]")
    assert found["value"] == pytest.approx(law(4500, 0.5, 0.25), rel=0.1)
    past = ("--from", now - 7200, "--to", now - 3600)
    found = said(capsys, *words, "measured", "--nodes", "n1,n2", *past)
    assert found["load"] == {"cpu": 0.5, "bandwidth": 0.25, "source": "measured"}
    assert codes(found) == []
    found = said(capsys, *words, "measured", "--run", ids["other"])
    assert found["load"] == {"cpu": 0.3, "bandwidth": 0.75, "source": "measured"}
    found = said(capsys, *words, "measured", "--run", ids["app"])
    assert found["load"]["cpu"] == 0.5
    assert codes(found) == ["own-load"]
    before = ("--from", now - 90_000, "--to", now - 53_500)
    found = said(capsys, *words, "measured", "--nodes", "n1", *before)
    assert "gaps" in codes(found)


def test_runs_of_a_store_get_the_load_at_their_start_from_its_series(tmp_path, capsys):
    """The published family of 2006 is asked by what the monitors saw."""
    place, random = str(tmp_path / "s.db"), np.random.default_rng(5)
    loads = random.uniform(0.2, 1.0, (40, 2)).round(3)
    times = tuple(float(BEGIN + 600 * i) for i in range(40))
    rows = [
        Run(
            "heat",
            law(n, *loads[i]),
            inputs=(("n", float(n)),),
            hosts=("n1", "n2"),
            started=BEGIN + 600 * i + 1,
        )
        for i, n in enumerate(np.tile(np.linspace(1000, 3000, 10), 4))
    ]
    with open_store(place) as store:
        store.add(rows)
        store.add([Series("n1", "cpu", times, tuple(loads[:, 0].tolist()))])
        store.add([Series("n2", "cpu", times, (1.0,) * 40)])
        store.add([Series("n1-n2", "bandwidth", times, tuple(loads[:, 1].tolist()))])
    words = ("model", "predict", "--store", place, "--app", "heat", "--at", "n=3500")
    small = ("--family", "rational-small", "--load", "cpu=0.5,bandwidth=0.25")
    found = said(capsys, *words, *small)
    assert set(found["at"]) == {"n", "cpu_start", "bandwidth_start"}
    assert found["value"] == pytest.approx(law(3500, 0.5, 0.25), rel=0.2)


def test_a_csv_file_has_loads_at_the_start_in_columns_of_their_own(tmp_path, capsys):
    path, random = tmp_path / "runs.csv", np.random.default_rng(6)
    lines = ["n,cpu_start,bandwidth_start,cpu,bandwidth,time_s"]
    for n in np.repeat(np.linspace(1000, 3000, 8), 4):
        a, b, c, d = random.uniform(0.2, 1, 4).round(3)
        lines.append(f"{n:g},{a},{b},{c},{d},{1e-9 * n**3 / a + 4e-6 * n**2 / b:.6f}")
    path.write_text("\n".join(lines) + "\n")
    words = ("model", "predict", path, "--family", "rational-small", "--at", "n=3500")
    found = said(capsys, *words, "--load", "cpu=0.5,bandwidth=0.25")
    truth = 1e-9 * 3500**3 / 0.5 + 4e-6 * 3500**2 / 0.25
    assert found["value"] == pytest.approx(truth, rel=0.01)


def test_a_model_of_loaded_runs_says_that_its_answer_is_for_quiet_nodes(loaded, capsys):
    assert run(["model", "predict", str(loaded), "--at", "n=6000"]) == 0
    text = capsys.readouterr().out
    assert "nothing else runs there; the runs had" in text
    assert "say what is left with --load" in text


def test_a_model_of_quiet_runs_doubts_a_load(quiet, capsys):
    words = ["model", "predict", str(quiet), "--at", "n=6000", "--load", "cpu=0.5"]
    found = said(capsys, *words)
    assert found["value"] == pytest.approx(2 * law(6000), rel=0.1)
    assert codes(found) == ["load-not-in-model"]
    assert run([*words, "--strict"]) == ExitCode.UNTRUSTED
    capsys.readouterr()
    assert run([*words, "--format", "slurm"]) == 0
    out, err = capsys.readouterr()
    minutes = int(found["p95"] // 60) + 1
    assert out == f"--time={minutes // 60:02}:{minutes % 60:02}:00\n"
    assert "do not trust" in err


@pytest.fixture
def skeleton(tmp_path, monkeypatch):
    """Return a skeleton that takes twice its quiet time wherever it runs."""

    class Facts:
        application_s, ranks = 40.0, 2

    asked = {}

    def predict(folder, node_sets, **options):
        asked["sets"] = node_sets
        if asked.get("fails"):
            return Predicted((), (Failure(node_sets[0], "no host n9"),), None)
        doubt = Doubt("too-short", "too short: 0.1 s", "build it with a smaller K")
        times = Interval(72.0, 80.0, 90.0)
        one = Prediction(node_sets[0], (2.0,), 40.0, times, times, (doubt,))
        return Predicted((one,), (), None)

    monkeypatch.setattr("skelgen.pipeline.predict.predict", predict)
    monkeypatch.setattr("skelgen.prediction.skeleton_file.load", lambda folder: Facts)
    return asked


def test_a_skeleton_slows_down_what_the_model_says_of_quiet_nodes(
    quiet, loaded, skeleton, capsys
):
    words = ("--at", "n=6000", "--skeleton", "skel", "--hosts", "n1:2,n2")
    found = said(capsys, "model", "predict", quiet, *words)
    free = said(capsys, "model", "predict", quiet, "--at", "n=6000")
    assert skeleton["sets"] == [(Host("n1", 2), Host("n2"))]
    assert found["value"] == pytest.approx(2 * free["value"])
    assert found["p95"] / found["p50"] > free["p95"] / free["p50"]
    assert found["load"]["source"] == "skeleton"
    assert found["load"]["cpu"] is None
    assert found["load"]["slowdown"] == {"p5": 1.8, "p50": 2.0, "p95": 2.25}
    assert codes(found) == ["too-short"]
    words = ["model", "predict", str(loaded), *words]
    assert run([*words, "--strict"]) == ExitCode.UNTRUSTED
    capsys.readouterr()
    skeleton["fails"] = True
    assert run(words) == ExitCode.APPLICATION
    assert "skel: no host n9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--load", "forecast"), "of which nodes? give --nodes n1,n2, or --series"),
        (("--load", "measured"), "when and where? give --run ID"),
        (("--load", "measured", "--run", "a", "--nodes", "n1"), "give --run, or"),
        (("--load", "cpu=0.5", "--nodes", "n1"), "--nodes is for --load forecast"),
        (("--load", "cpu=0.5", "--run", "a"), "--run, --from and --to are for"),
        (("--load", "cpu=0.5", "--skeleton", "s"), "give --load or --skeleton"),
        (("--series", "x.csv"), "--series is for --load forecast or measured"),
        (("--load", "measured", "--from", "soon"), "--from: read 'soon', expected a"),
        (
            ("--load", "measured", "--nodes", "n1", "--from", "9", "--to", "8"),
            "--to is not after --from",
        ),
        (("--load", "busy"), "--load: read 'busy', expected a name and a number"),
        (("--skeleton", "nowhere"), "nowhere"),
        (("--load", "cpu=0"), "--load: cpu is 0; a part that is left is above 0"),
    ],
)
def test_words_that_do_not_belong_together_are_said(quiet, capsys, words, told):
    code = run(["model", "predict", str(quiet), "--at", "n=6000", *words])
    error = capsys.readouterr().err
    assert code in (ExitCode.USAGE, ExitCode.INPUT)
    assert told in error
    assert error.count("\n") == 1
