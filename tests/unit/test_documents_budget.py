"""What a small file may stand for: counted before anything is expanded."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.documents import Field
from skelgen.documents.budget import (
    MEMORY_VARIABLE,
    Budget,
    BudgetError,
    most_memory_bytes,
)
from skelgen.documents.numbers import listed, stretches
from skelgen.errors import InputError, NodesError, UsageError
from skelgen.launch.hosts import Host, parse_hosts, place, read_hostfile
from skelgen.pipeline.signatures import read_signature
from skelgen.signature import calls_of, store
from skelgen.signature.expand import extent
from tests.golden.rewrite import CASES

BOMB = """\
skelgen_signature: 1
provenance: {application: a, command: [], mpi: m, host: h, recorded: r, skelgen: s,
  parameters: {}, ranks_per_host: "2"}
ranks: 2
application_s: 10
events: 60000000
dropped: []
sites: [a]
families: [{kind: world, parent: -1, instances: ["0 1"]}]
symbols:
  b: MPI_Barrier family=0 site=0 class=0
groups:
- ranks: 0 1
  samples: 32
  tail_ns: 0*2
  nest:
  - loop: 30000000
    body: [b]
  leaves: |
    0 b 30000000
  compute_ns: |
    0 = 5*2
  mpi_ns: |
    0 5*2
  size_bytes: |
    0 = 0*2
"""


def read(path: Path):
    return read_signature(
        path, similarity_threshold=None, scaling_factor=None, target_s=None
    )


def test_a_few_lines_that_stand_for_gigabytes_are_refused_at_once(tmp_path: Path):
    file = tmp_path / "signature.yaml"
    file.write_text(BOMB)
    with pytest.raises(
        InputError, match=f"60000000 calls .* 4 GiB.*{MEMORY_VARIABLE}=64GiB"
    ):
        read(file)


def test_a_variable_allows_more_and_less(tmp_path: Path, monkeypatch):
    file = tmp_path / "signature.yaml"
    file.write_text(BOMB)
    monkeypatch.setenv(MEMORY_VARIABLE, "8GiB")
    assert read(file)[0].events == 60_000_000
    monkeypatch.setenv(MEMORY_VARIABLE, "1 MB")
    file.write_text(BOMB.replace("30000000", "30000").replace("60000000", "60000"))
    with pytest.raises(InputError, match="60000 calls"):
        read(file)
    for wrong in ("much", "0", "-1GB", "1e9"):
        monkeypatch.setenv(MEMORY_VARIABLE, wrong)
        with pytest.raises(UsageError, match="expected a size such as 8GiB"):
            read(file)


def test_the_memory_of_the_process_bounds_what_a_file_may_take(monkeypatch):
    monkeypatch.delenv(MEMORY_VARIABLE, raising=False)
    most = most_memory_bytes()
    limits = {resource.RLIMIT_AS: (most, most)}
    none = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits.get(kind, none))
    assert most_memory_bytes() == most // 2


def test_what_one_file_takes_adds_up(monkeypatch):
    monkeypatch.setenv(MEMORY_VARIABLE, "1000B")
    budget = Budget()
    budget.take(600, "lists")
    with pytest.raises(BudgetError, match=r"lists take about 1.17 KiB"):
        budget.take(600, "lists")


def test_lists_of_numbers_count_against_their_document(monkeypatch):
    monkeypatch.setenv(MEMORY_VARIABLE, "1GiB")
    field = Field(Path("a.yaml"), "", {"a": "0*9000000", "b": ["7*9000000"] * 9})
    fields = field.mapping(("a", "b"))
    with pytest.raises(InputError, match=r"a.yaml: b\[2\]: integers take"):
        for one in fields["b"].items():
            one.integers(0, 9, 10_000_000)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_calls_and_requests_are_counted_as_they_expand(case: Path) -> None:
    signature = store.load(case)
    calls = calls_of(signature)
    length = calls.age_first[calls.ages + 1] - calls.age_first[calls.ages]
    assert extent(signature) == (len(calls), length.sum())


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 9))),
)
def test_stretches_write_out_what_they_stand_for(parts):
    text, expected = [], []
    for first, last, times in parts:
        if times == 1:
            text.append(f"{first}..{last}")
            step = 1 if last >= first else -1
            expected += range(first, last + step, step)
        else:
            text.append(f"{first}*{times}")
            expected += [first] * times
    found = stretches(" ".join(text), -9, 9, len(expected))
    assert listed(found) == expected
    assert len(found) == len(parts)


@pytest.mark.parametrize(
    "text",
    [
        "n[1-9999]x[1-9999]",
        "n[1-999]x[1-999]x[1-999]",
        "n[1-99999],m[1-99999]",
        "n[0-99999999999999999]",
        "a,n[1-9999]x[1-9999]!b",
    ],
)
def test_node_sets_are_counted_before_they_are_listed(text: str) -> None:
    with pytest.raises(UsageError, match="hosts, expected at most 100000; name fewer"):
        parse_hosts(text)


def test_large_node_sets_are_listed() -> None:
    assert len(parse_hosts("n[1-99999]")) == 99_999
    assert len(parse_hosts("r[1-30]c[1-30]n[1-100]")) == 90_000
    assert len(parse_hosts("n[1-99999/50]")) == 2_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"n1\0b slots=2\n", "it has characters of no name"),
        (b"n1\nn\xff\n", "byte 4 is not UTF-8"),
        (b"n1 slots=99999999999\n", "no number from 1 to"),
        (b"n1 slots=" + b"9" * 5000, "no number from 1 to"),
        (b"n1:" + b"9" * 5000, "is not a host"),
        ("n1 slots=\N{SUPERSCRIPT TWO}\n".encode(), "no number from 1 to"),
        (b"n[1-9999]x[1-9999]\n", "names 99980001 hosts"),
        (b"n[" + b"1" * 5000 + b"]\n", "line 1"),
    ],
)
def test_a_hostfile_from_anybody_is_one_line(tmp_path: Path, content: bytes, said: str):
    file = tmp_path / "hosts"
    file.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        read_hostfile(file)
    assert "\n" not in str(caught.value)


def test_a_hostfile_without_end_is_refused() -> None:
    with pytest.raises(InputError, match="longer than 16 MiB"):
        read_hostfile(Path("/dev/zero"))


@given(
    slots=st.lists(st.integers(1, 6), min_size=1, max_size=6), ranks=st.integers(0, 30)
)
def test_ranks_go_where_fewest_are_and_the_first_host_first(slots, ranks):
    hosts = [Host(f"n{at}", count) for at, count in enumerate(slots)]
    if sum(slots) < ranks:
        with pytest.raises(NodesError):
            place(ranks, hosts)
        return
    given_ranks = [0] * len(slots)
    for _ in range(ranks):
        free = [at for at, count in enumerate(given_ranks) if count < slots[at]]
        given_ranks[min(free, key=given_ranks.__getitem__)] += 1
    expected = {f"n{at}": count for at, count in enumerate(given_ranks) if count}
    assert {host.name: host.slots for host in place(ranks, hosts)} == expected


def test_millions_of_ranks_are_placed_without_counting_them_out() -> None:
    found = place(10_000_000, [Host("a", 9_999_999), Host("b", 10_000_000)])
    assert [host.slots for host in found] == [5_000_000, 5_000_000]
