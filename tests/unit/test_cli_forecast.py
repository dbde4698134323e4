"""The command forecast, its files and its record."""

from __future__ import annotations

import json
import stat
import time

import numpy as np
import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from skelgen.pipeline import forecast_record
from skelgen.store import Series, open_store

BEGIN = 1_700_000_000


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


def columns(count, seed=1):
    rng = np.random.default_rng(seed)
    return rng.random(count), 0.3 + 0.2 * rng.random(count), 1e8 * rng.random(count)


def write(path, count):
    rows = zip(*columns(3000), strict=True)
    lines = [
        f"{BEGIN + 60 * i},{a:.4f},{b:.4f},{c:.0f}"
        for i, (a, b, c) in enumerate(rows)
        if i < count
    ]
    path.write_text("\n".join(["time,n1,n2,n1-n2", *lines]) + "\n")
    return path


def said(capsys, *words):
    assert run([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_file_is_forecast_with_all_its_nodes_and_links(tmp_path, capsys):
    file = write(tmp_path / "loads.csv", 1500)
    found = said(capsys, "forecast", "--series", file, "--horizon", "30min")
    assert found["nodes"] == ["n1", "n2"]
    assert found["horizon_s"] == 1800
    assert found["verdict"] == "trust"
    for quantity in ("cpu", "bandwidth"):
        one = found[quantity]
        assert one["p5"] < one["p50"] < one["p95"]
        assert one["covariate"] == "avg-min"
        assert one["expert"]
        assert one["postcast_error"] > 0
    assert found["cpu"]["p50"] == pytest.approx(0.31, abs=0.04)


def test_nodes_choose_columns_and_nws_is_another_method(tmp_path, capsys):
    file = write(tmp_path / "loads.csv", 1500)
    words = ("forecast", "--series", file, "--nodes", "n2", "--method", "nws")
    found = said(capsys, *words)
    assert found["nodes"] == ["n2"]
    assert found["bandwidth"] is None
    assert found["method"] == "nws"
    assert found["cpu"]["p50"] == pytest.approx(0.4, abs=0.1)


def test_series_of_a_store_are_forecast(tmp_path, capsys):
    first, second, link = columns(500)
    times = tuple(float(BEGIN + 60 * i) for i in range(500))
    place = tmp_path / "s.db"
    import time

    now = time.time()
    times = tuple(now - 60 * (500 - i) for i in range(500))
    with open_store(str(place)) as store:
        store.add(
            [
                Series("n1", "cpu", times, tuple(first.tolist())),
                Series("n2", "cpu", times, tuple(second.tolist())),
                Series("n1-n2", "bandwidth", times, tuple(link.tolist())),
            ]
        )
    found = said(capsys, "forecast", "--store", place, "--nodes", "n[1-2]")
    assert found["cpu"]["p50"] == pytest.approx(0.31, abs=0.05)
    assert found["bandwidth"]["p50"] == pytest.approx(5e7, rel=0.2)
    assert run(["forecast", "--store", str(place), "--nodes", "n9"]) == ExitCode.INPUT
    assert "no CPU series of n9" in capsys.readouterr().err


def test_a_load_that_was_estimated_is_doubted_and_one_that_was_measured_wins(
    tmp_path, capsys
):
    place, now = tmp_path / "s.db", time.time()
    times = tuple(now - 60 * (100 - i) for i in range(100))
    with open_store(str(place)) as store:
        for host, quantity, value in (
            *(("n1", "cpu", 0.75), ("n1", "cpu:sar", 0.25)),
            *(("n2", "cpu:sar", 0.5), ("n2", "run_queue", 9.0)),
        ):
            store.add([Series(host, quantity, times, (value,) * 100)])
    words = ("forecast", "--store", place, "--horizon", "10min", "--nodes")
    measured, estimated = (said(capsys, *words, node) for node in ("n1", "n2"))
    assert measured["cpu"]["p50"] == pytest.approx(0.75)
    assert measured["doubts"] == []
    assert estimated["cpu"]["p50"] == pytest.approx(0.5)
    assert [one["code"] for one in estimated["doubts"]] == ["estimated-load"]


@pytest.mark.parametrize(
    ("end_s", "code"),
    [
        *((0.0, None), (-3000.0, None), (-4000.0, "old-series")),
        *((-90_000.0, "old-series"), (900.0, "other-clock")),
    ],
)
def test_a_history_that_does_not_end_now_is_doubted(tmp_path, capsys, end_s, code):
    import time

    times = tuple(time.time() + end_s - 60 * (900 - i) for i in range(900))
    values = tuple(0.5 + 0.1 * (i % 3) for i in range(900))
    with open_store(str(tmp_path / "s.db")) as store:
        store.add([Series("n1", "cpu", times, values)])
    words = ("forecast", "--store", tmp_path / "s.db", "--nodes", "n1")
    found = said(capsys, *words, "--horizon", "1h")
    assert [one["code"] for one in found["doubts"]] == ([code] if code else [])


def test_clocks_that_are_a_day_apart_are_a_reason_and_said(tmp_path, capsys):
    now = time.time()
    with open_store(str(tmp_path / "s.db")) as store:
        for host, begin in (("n1", now - 6000), ("n2", now + 80_000)):
            times = tuple(begin + 60 * i for i in range(100))
            store.add([Series(host, "cpu", times, (0.5,) * 100)])
    words = ["forecast", "--store", str(tmp_path / "s.db"), "--nodes", "n1,n2"]
    assert run(words) == 3
    assert "set their clocks right (NTP)" in capsys.readouterr().err


def test_times_that_go_back_are_told(tmp_path, capsys):
    lines = [f"{60 * (i if i < 400 else i - 50)},0.5\n" for i in range(900)]
    (tmp_path / "l.csv").write_text("time,n1\n" + "".join(lines))
    assert run(["forecast", "--series", str(tmp_path / "l.csv")]) == 0
    assert "n1: times go back in 1 places" in capsys.readouterr().err


def test_every_forecast_is_compared_with_what_happened(tmp_path, capsys):
    file = write(tmp_path / "loads.csv", 1500)
    said(capsys, "forecast", "--series", file, "--horizon", "1h")
    (bandwidth, cpu) = said(capsys, "forecast", "--record")["methods"]
    assert (cpu["predictions"], cpu["happened"]) == (1, 0)
    assert cpu["median_error"] is None
    write(file, 1600)
    (bandwidth, cpu) = said(capsys, "forecast", "--record")["methods"]
    assert (bandwidth["quantity"], cpu["quantity"]) == ("bandwidth", "cpu")
    assert cpu["happened"] == 1
    first, second, _ = columns(3000)
    truth = np.minimum(first, second)[1500:1560].mean()
    (made,) = [
        one.kept for one in forecast_record.outcomes() if one.kept.quantity == "cpu"
    ]
    assert cpu["median_error"] == pytest.approx(abs(made.p50 - truth), abs=1e-4)
    assert cpu["inside"] == 1.0
    file.unlink()  # what happened is kept, whatever becomes of the series
    (_, later) = said(capsys, "forecast", "--record")["methods"]
    assert later == cpu


def test_the_record_is_for_its_owner_and_survives_damage(tmp_path, capsys, caplog):
    file = write(tmp_path / "loads.csv", 1500)
    said(capsys, "forecast", "--series", file)
    place = forecast_record.place()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    with place.open("ab") as damaged:
        damaged.write(b'{"row": "forecast", "begin": \xff')
    said(capsys, "forecast", "--series", file, "--horizon", "2h")
    found = said(capsys, "forecast", "--record")["methods"]
    assert len(found) == 4


def test_a_full_record_forgets_its_older_half(monkeypatch):
    monkeypatch.setattr(forecast_record, "_MOST_BYTES", 5000)
    words = (("n1",), "cpu", "avg-min", "nws", "last", 0.1, 0.2, 0.3, "")
    sizes = []
    for begin in range(60):
        forecast_record.keep([forecast_record.Kept(float(begin), 60.0, *words)])
        sizes.append(forecast_record.place().stat().st_size)
    begins = [one.kept.begin for one in forecast_record.outcomes()]
    assert begins == [float(i) for i in range(60 - len(begins), 60)]
    assert max(sizes) <= 5000
    assert min(sizes[20:]) > 2000


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "expected a header such as time,n1,n2"),
        ("time,n1,n1\n", "each name once"),
        ("time,n1\n5,0.1,0.2\n", "line 2: read 3 cells, expected 2"),
        ("time,n1\nnoon,0.1\n", "line 2: read 'noon', expected a date"),
        ("time,n1\n5,busy\n", "line 2: read 'busy', expected a number"),
        ("time,n1\n5,0.1\n", "expected at least 8"),
        ("time,n1\n", "0 of 0 samples"),
        ("time,n1\n" + "".join(f"{i},1e308\n" for i in range(20)), "0 of 20 samples"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_one_line(tmp_path, capsys, text, wanted):
    file = tmp_path / "loads.csv"
    file.write_text(text)
    assert run(["forecast", "--series", str(file)]) == ExitCode.INPUT
    error = capsys.readouterr().err
    assert wanted in error
    assert error.count("\n") == 1


def test_dates_are_times_and_empty_cells_no_samples(tmp_path, capsys):
    lines = [
        f"2026-11-24T{i // 60:02d}:{i % 60:02d}:00Z,{'' if i % 7 == 0 else 0.5}"
        for i in range(600)
    ]
    file = tmp_path / "loads.csv"
    file.write_text("\n".join(["time,n1", *lines]))
    found = said(capsys, "forecast", "--series", file, "--horizon", "10min")
    assert found["cpu"]["p50"] == 0.5
    assert found["verdict"] == "trust"


def test_words_that_do_not_fit_are_refused(tmp_path, capsys):
    endless = ["forecast", "--nodes", "n1", "--horizon", "9" * 400]
    assert run(endless) == ExitCode.USAGE
    assert "is not a duration" in capsys.readouterr().err
    assert run(["forecast"]) == ExitCode.USAGE
    assert run(["forecast", "--nodes", "n1", "--horizon", "soon"]) == ExitCode.USAGE
    words = ["--series", "x", "--store", "y"]
    assert run(["forecast", *words]) == ExitCode.USAGE
    capsys.readouterr()


def test_strict_fails_on_a_short_history(tmp_path, capsys):
    file = write(tmp_path / "loads.csv", 100)
    words = ["forecast", "--series", str(file), "--horizon", "2h"]
    assert run(words) == 0
    assert "[short-history]" in capsys.readouterr().out
    assert run([*words, "--strict"]) == ExitCode.UNTRUSTED
