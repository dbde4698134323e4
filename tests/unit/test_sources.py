"""Loads that other tools measured: what their texts become, and what is refused."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.pipeline import load_sources
from skelgen.pipeline.load_sources import Imported, Repeats, import_loads
from skelgen.sources.estimate import available_cpu
from skelgen.sources.types import Usage
from skelgen.store import Series, open_store
from tests.fuzz_cases import DAMAGES
from tests.source_samples import (
    BEGIN,
    EXPORTER,
    LDMS,
    PCP,
    SAMPLES,
    SAR_TABLE,
    exporter,
    sar_json,
)


class Case:
    """Sources in a folder, and the store that they go to."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._store = folder, str(folder / "s.db")

    def add(self, *texts: str | bytes, host: str = "", kind: str = "") -> Imported:
        names = []
        for number, text in enumerate(texts):
            path = self._folder / f"source-{number}"
            raw = text if isinstance(text, bytes) else text.encode()
            path.write_bytes(raw)
            names.append(str(path))
        return import_loads(self._store, names, host=host, kind=kind)

    def series(self, host: str | None = None) -> dict[str, Series]:
        with open_store(self._store, make=False) as store:
            return {one.quantity: one for one in store.series(host)}


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def test_two_answers_of_node_exporter_become_rates(case: Case):
    found = case.add(EXPORTER)
    assert not found.refused
    assert not found.left_out
    series = case.series("n1")
    # A core and a half at work are two threads at least: the third of them gets 2/3.
    assert series["cpu:node-exporter"].times == (BEGIN + 10,)
    assert series["cpu:node-exporter"].values == pytest.approx((2 / 3,))
    assert series["received_bytes_per_s:eth0"].values == pytest.approx((2e5,))
    assert series["pressure"].values == pytest.approx((0.375,))
    assert series["memory_bytes"].values == (2.5e10, 2.5e10)
    assert "received_bytes_per_s:lo" not in series


def test_answers_in_several_files_are_compared_with_each_other(case: Case):
    first = exporter(BEGIN, busy=100, idle=900)
    second = exporter(BEGIN + 10, busy=100, idle=910)
    case.add(first, second)
    assert case.series("n1")["cpu:node-exporter"].values == (1.0,)
    case.add(first, second)
    assert len(case.series("n1")["cpu:node-exporter"].values) == 1


def test_counters_begin_anew_after_a_restart(case: Case):
    answers = (
        exporter(BEGIN, busy=100, idle=900),
        exporter(BEGIN + 10, busy=1, idle=9),
        exporter(BEGIN + 20, busy=1, idle=19),
        # It was away for long: higher counters than before, but another start.
        exporter(BEGIN + 9000, busy=50, idle=90, boot=BEGIN + 100),
    )
    found = case.add("".join(answers))
    assert case.series("n1")["cpu:node-exporter"].times == (BEGIN + 20,)
    (line,) = found.left_out
    assert "2 times the node was restarted" in line


def test_a_counter_that_goes_back_costs_one_rate(case: Case):
    found = case.add(
        exporter(BEGIN, busy=0, idle=0, received=4e9)
        + exporter(BEGIN + 10, busy=0, idle=10, received=1e3)
        + exporter(BEGIN + 20, busy=0, idle=20, received=2e3)
    )
    series = case.series("n1")
    assert series["received_bytes_per_s:eth0"].times == (BEGIN + 20,)
    assert len(series["cpu:node-exporter"].times) == 2
    assert "a counter goes back" in found.left_out[0]


def test_times_that_go_back_cost_one_rate(case: Case):
    found = case.add(
        exporter(BEGIN, busy=0, idle=0)
        + exporter(BEGIN - 50, busy=0, idle=10)
        + exporter(BEGIN - 40, busy=0, idle=20)
    )
    assert case.series("n1")["cpu:node-exporter"].times == (BEGIN - 40,)
    assert "times go back" in found.left_out[0]


def test_after_a_gap_a_rate_is_the_average_over_it(case: Case):
    case.add(
        exporter(BEGIN, busy=0, idle=0, received=0)
        + exporter(BEGIN + 3600, busy=0, idle=3600, received=3.6e6)
    )
    assert case.series()["received_bytes_per_s:eth0"].values == pytest.approx((1e3,))


@pytest.mark.parametrize("value", ["NaN", "-5", "1e308", "+Inf"])
def test_a_number_that_cannot_be_is_left_out(case: Case, value: str):
    text = EXPORTER.replace("2.5e+10", value)
    found = case.add(text)
    series = case.series("n1")
    assert "memory_bytes" not in series
    assert "cpu:node-exporter" in series
    (line,) = found.left_out
    assert "2 times a value" in line


def test_more_work_than_the_cores_can_do_is_left_out(case: Case):
    text = exporter(BEGIN, busy=0, idle=0) + exporter(BEGIN + 10, busy=13, idle=0)
    found = case.add(text)
    assert "cpu:node-exporter" not in case.series("n1")
    assert "130% of the cores" in found.left_out[0]


def test_the_run_queue_says_how_many_share_a_core():
    busy = Usage("n1", 0.0, cores=2, busy=2.0, stolen=0.0)
    assert available_cpu(busy) == pytest.approx(2 / 3)
    busy.run_queue = 7.0
    assert available_cpu(busy) == pytest.approx(2 / 8)
    busy.run_queue = 0.0  # nobody at the moment of the look, but all cores worked
    assert available_cpu(busy) == pytest.approx(2 / 3)
    busy.run_queue = 1e300  # what cannot be says nothing
    assert available_cpu(busy) == pytest.approx(2 / 3)
    assert math.isnan(available_cpu(Usage("n1", 0.0, busy=2.0)))


def test_what_a_hypervisor_and_interrupts_take_nobody_gets():
    usage = Usage("n1", 0.0, cores=1, busy=0.5, interrupts=0.25, stolen=0.5)
    assert available_cpu(usage) <= 0.375 + 1e-9


def test_a_range_query_becomes_series(case: Case):
    case.add(SAMPLES["range.json"])
    assert case.series("n1")["cpu:node-exporter"].values == (0.5,)


def test_tables_of_ldms_become_series_of_each_node(case: Case):
    case.add(LDMS, SAMPLES["procnetdev.csv"], SAMPLES["meminfo.csv"])
    busy, free = case.series("s0"), case.series("s1")
    assert busy["cpu:ldms"].values == pytest.approx((0.25,))
    assert busy["run_queue"].values == (3.0, 3.0)
    assert free["cpu:ldms"].values == pytest.approx((1.0,))
    assert busy["received_bytes_per_s:eth0"].values == pytest.approx((200.0,))
    assert busy["memory_bytes"].values == (51200.0,)


def test_types_and_spaces_in_a_header_of_ldms_do_no_harm(case: Case):
    header, rest = LDMS.split("\n", 1)
    names = header.replace(",user,", ",user:u64,").replace(",", ", ")
    case.add(f"{names}\n{rest}")
    assert case.series("s0")["cpu:ldms"].values == pytest.approx((0.25,))


def test_a_table_of_pmrep_becomes_series(case: Case):
    case.add(PCP)
    series = case.series("n1")
    assert series["cpu:pcp"].values == pytest.approx((0.4,))  # four wait for two cores
    assert series["received_bytes_per_s:eth0"].values == pytest.approx((200.0,))
    assert series["memory_bytes"].values == (1024e3,)


@pytest.mark.parametrize("text", [SAR_TABLE, sar_json()])
def test_what_sadf_writes_becomes_series(case: Case, text: str):
    case.add(text)
    series = case.series("n1")
    assert series["cpu:sar"].times[0] == BEGIN + 600
    assert series["cpu:sar"].values[0] == pytest.approx(0.5)
    assert series["run_queue"].values == (3.0,)
    assert series["received_bytes_per_s:eth0"].values == (2048.0,)


def test_local_times_of_sadf_are_refused(case: Case):
    for text in (sar_json(utc=False), SAR_TABLE.replace(" UTC;", ";")):
        (refused,) = case.add(text).refused
        assert "local time" in refused[1]
        assert "without -t" in refused[1]
    assert not case.add(sar_json(utc=False, zone="UTC")).refused


def test_without_a_number_of_cores_there_is_no_cpu(case: Case):
    case.add(SAR_TABLE.replace("\t(2 CPU)", ""))
    assert "cpu:sar" not in case.series("n1")
    assert "run_queue" in case.series("n1")


def test_a_node_can_be_named(case: Case):
    text = "\n".join(line for line in EXPORTER.splitlines() if "node_uname" not in line)
    (refused,) = case.add(text).refused
    assert "name it: --host" in refused[1]
    case.add(text, host="n5")
    assert "cpu:node-exporter" in case.series("n5")
    (refused,) = case.add(LDMS, host="n5").refused
    assert "is of several nodes" in refused[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (EXPORTER.replace("n1.site", "n1\\nbad"), r"read the host 'n1\\nbad'"),
        (EXPORTER.replace("} 100\n", "} hundred\n"), "line .*: read 'hundred'"),
        (EXPORTER.replace('mode="user"', "mode=user"), "read the labels"),
        ("go_info 1\n", "is not what node_exporter"),
        ("# HELP go_info\ngo_info 1\n", "no metrics of node_exporter"),
        (EXPORTER.encode("utf-16"), "is UTF-16"),
        (EXPORTER.encode() + b"\xff\n", "line .* is not UTF-8"),
        (b"# HELP " + b"x" * 2_000_000, "line 1 is longer than"),
        (LDMS.replace("1000,0,0,9000", "1000,0,0", 1), "line 2: read 15 columns"),
        (LDMS.replace("ProducerName", "Node"), "expected Time and ProducerName"),
        (PCP.replace("11000", "x"), "line 3: read 'x', expected a number"),
        (SAR_TABLE.replace(";100.00", ""), "line 4: read 9 columns, expected the 10"),
        (json.dumps({"sysstat": {"hosts": 3}}), "expected a list"),
        (json.dumps({"status": "error"}), "'data' is missing"),
        (b"\x00\x01\x02", "is not what node_exporter"),
        ("", "is not what node_exporter"),
    ],
)
def test_another_text_is_refused_in_one_line(case: Case, text: str | bytes, said: str):
    (refused,) = case.add(text).refused
    assert "\n" not in refused[1]
    with pytest.raises(InputError, match=said):
        raise InputError(refused[1])


def test_interfaces_of_containers_and_odd_names_are_left_out(case: Case):
    odd = "".join(
        f'node_network_receive_bytes_total{{device="{name}"}} {{value}}\n'
        for name in ("veth1", "docker0", "br-1", "a\\nb", "ib0")
    )
    case.add(
        exporter(BEGIN, busy=0, idle=0, more=odd.replace("{value}", "1"))
        + exporter(BEGIN + 10, busy=0, idle=10, more=odd.replace("{value}", "11"))
    )
    names = [name for name in case.series() if name.startswith("received")]
    assert names == ["received_bytes_per_s:eth0", "received_bytes_per_s:ib0"]


def test_sources_are_read_again_until_their_time_is_over(tmp_path: Path):
    path, now = tmp_path / "node.prom", [0.0]

    def sleep(time_s: float) -> None:
        now[0] += time_s
        seconds = now[0]
        path.write_text(exporter(BEGIN + seconds, busy=0, idle=seconds))

    path.write_text(exporter(BEGIN, busy=0, idle=0))
    repeats = Repeats(10.0, 40.0, sleep, lambda: now[0])
    found = import_loads(str(tmp_path / "s.db"), [str(path)], repeats=repeats)
    samples = {one.quantity: one.samples for one in found.series}
    assert samples["cpu:node-exporter"] == 4
    assert now[0] == 40.0


def test_a_good_source_is_kept_when_another_is_refused(case: Case):
    found = case.add("nothing", EXPORTER)
    assert len(found.refused) == 1
    assert "cpu:node-exporter" in case.series("n1")


def test_nothing_is_made_when_nothing_can_be_read(case: Case, tmp_path: Path):
    case.add("nothing")
    assert not (tmp_path / "s.db").exists()


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(name=st.sampled_from(sorted(SAMPLES)), seed=st.integers(0, 2**32))
def test_a_damaged_text_is_samples_or_one_line(tmp_path: Path, name: str, seed: int):
    rng = random.Random(seed)
    raw = rng.choice(DAMAGES)(rng, SAMPLES[name])
    path = tmp_path / name
    path.write_bytes(raw)
    reader = load_sources._Reader("", rng.choice(["", "n9"]))
    reader.read([str(path)])
    for one in reader._waiting:
        assert all(math.isfinite(value) for value in one.values)
        assert list(one.times) == sorted(set(one.times))
        assert "\n" not in one.host + one.quantity
    for _, reason in reader.found().refused:
        assert "\n" not in reason
