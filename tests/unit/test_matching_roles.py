"""What functions do for matching, and in which sequence they count."""

import pytest
from skelgen._kernels._match import lib

from skelgen.matching.roles import MatchRole, role, shape_table
from tests import builders


def test_roles_are_those_of_the_kernel():
    for one in MatchRole:
        assert getattr(lib, f"SKELGEN_MATCH_{one.name}") == one


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("MPI_Ssend", MatchRole.SENDS),
        ("MPI_Irecv_c", MatchRole.RECEIVES | MatchRole.CREATES),
        (
            "MPI_Sendrecv_replace",
            MatchRole.SENDS | MatchRole.RECEIVES | MatchRole.TWO_SIDED,
        ),
        ("MPI_Rsend_init", MatchRole.SEND_INIT | MatchRole.CREATES),
        ("MPI_Startall", MatchRole.STARTS),
        ("MPI_Testsome", MatchRole.COMPLETES),
        ("MPI_Cancel", MatchRole.CANCELS),
        ("MPI_Request_free", MatchRole(0)),
        ("MPI_Iprobe", MatchRole(0)),
        ("MPI_Comm_idup", MatchRole.COLLECTIVE | MatchRole.CREATES),
        ("MPI_Comm_create_group", MatchRole(0)),
    ],
)
def test_role_of_a_function(function, expected):
    assert role(function) == expected


def test_setup_counts_apart_from_communication():
    calls = builders.calls("""
        rank 0
          Barrier
          Iallreduce bytes=8 as=a
          Comm_dup
          Comm_split
          Wait of=a
    """)
    table = shape_table(calls)
    barrier, iallreduce, dup, split, wait = table.stream[calls.shape]
    assert barrier == iallreduce
    assert len({barrier, dup, split}) == 3
    assert wait == -1
    assert table.setup[[barrier, dup, split]].tolist() == [False, True, True]
