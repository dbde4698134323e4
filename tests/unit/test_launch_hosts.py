"""Lists of hosts and the placement of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError, NodesError, UsageError
from skelgen.launch.hosts import Host, parse_hosts, parse_pool, place, read_hostfile


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n1,n2", [("n1", 1), ("n2", 1)]),
        ("n1:4", [("n1", 4)]),
        ("n1,n2,n1", [("n1", 2), ("n2", 1)]),
        ("n[1-3,7]", [("n1", 1), ("n2", 1), ("n3", 1), ("n7", 1)]),
        ("r[0-1]n[08-09]:2", [("r0n08", 2), ("r0n09", 2), ("r1n08", 2), ("r1n09", 2)]),
        ("a.example.org, b-2", [("a.example.org", 1), ("b-2", 1)]),
        ("n2,n1", [("n2", 1), ("n1", 1)]),
        ("n[1-4]!n[2-3]:2", [("n1", 2), ("n4", 2)]),
        ("n[1-7/3]", [("n1", 1), ("n4", 1), ("n7", 1)]),
    ],
)
def test_hosts_are_read_in_the_usual_notations(text, expected):
    assert [(host.name, host.slots) for host in parse_hosts(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n1,,n2",
        "n1:0",
        "n1:x",
        "n[1-",
        "n[3-1]",
        "-n",
        "n1 n2",
        "n[1-999999]",
        "n1!n1",
    ],
)
def test_what_is_no_list_of_hosts_is_refused(text):
    with pytest.raises(UsageError):
        parse_hosts(text)


@given(st.text(alphabet="n1[]-,:. a", max_size=12))
def test_any_text_is_read_or_refused_with_one_line(text):
    try:
        hosts = parse_hosts(text)
    except UsageError as error:
        assert "\n" not in str(error)
    else:
        assert len({host.name for host in hosts}) == len(hosts) > 0


def test_a_pool_is_a_list_or_a_file_with_a_name_on_each_line(tmp_path: Path):
    (tmp_path / "nodes").write_text("n1\nn1\nn[2-3]\n")
    assert parse_pool("n[1-2]:2") == (Host("n1", 2), Host("n2", 2))
    assert parse_pool("n[1-5/2]") == (Host("n1"), Host("n3"), Host("n5"))
    assert len(parse_pool(",".join(f"node{n:04}" for n in range(300)))) == 300
    assert parse_pool(f"{tmp_path}/nodes") == (Host("n1", 2), Host("n2"), Host("n3"))


def test_a_node_that_is_twice_in_a_pool_is_named():
    with pytest.raises(UsageError, match=r"n2 is there twice; write n2:2"):
        parse_pool("n[1-3],n2")


def test_hostfiles_of_both_mpis_are_read(tmp_path: Path):
    path = tmp_path / "hosts"
    path.write_text("# comment\nn1 slots=4 max_slots=8\n\nn2:2  # two\nn3\n")
    assert read_hostfile(path) == (Host("n1", 4), Host("n2", 2), Host("n3", 1))


@pytest.mark.parametrize("text", ["", "# nothing\n", "n1 slots=x\n", "n1:none\n"])
def test_a_wrong_hostfile_is_an_input_error(tmp_path: Path, text):
    path = tmp_path / "hosts"
    path.write_text(text)
    with pytest.raises(InputError, match="hosts"):
        read_hostfile(path)


def test_a_missing_hostfile_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError, match="there is no such file"):
        read_hostfile(tmp_path / "none")


def test_ranks_are_spread_evenly():
    hosts = [Host("n1", 4), Host("n2", 4)]
    assert place(4, hosts) == (Host("n1", 2), Host("n2", 2))


def test_hosts_that_get_no_rank_are_left_out():
    assert place(1, [Host("n1"), Host("n2")]) == (Host("n1"),)


def test_fewer_slots_than_ranks_is_refused_with_the_remedy():
    with pytest.raises(NodesError, match=r"2 ranks need 2 slots.*n1:2") as caught:
        place(2, [Host("n1")])
    assert caught.value.exit_code == 7


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
    st.integers(1, 40),
)
def test_every_rank_gets_a_slot_and_no_host_too_many(slots, ranks):
    hosts = [Host(f"n{i}", count) for i, count in enumerate(slots)]
    if sum(slots) < ranks:
        with pytest.raises(NodesError):
            place(ranks, hosts)
        return
    placed = {host.name: host.slots for host in place(ranks, hosts)}
    assert sum(placed.values()) == ranks
    assert all(placed.get(host.name, 0) <= host.slots for host in hosts)
