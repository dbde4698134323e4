"""What functions do for matching, and in which sequence they count."""

import pytest
from skelgen._kernels._match import lib

from skelgen.matching.roles import Role, role, shape_table
from tests import builders


def test_roles_are_those_of_the_kernel():
    for one in Role:
        assert getattr(lib, f"SKELGEN_MATCH_{one.name}") == one


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("MPI_Ssend", Role.SENDS),
        ("MPI_Irecv_c", Role.RECEIVES | Role.CREATES),
        ("MPI_Sendrecv_replace", Role.SENDS | Role.RECEIVES | Role.TWO_SIDED),
        ("MPI_Rsend_init", Role.SEND_INIT | Role.CREATES),
        ("MPI_Startall", Role.STARTS),
        ("MPI_Testsome", Role.COMPLETES),
        ("MPI_Cancel", Role.CANCELS),
        ("MPI_Request_free", Role(0)),
        ("MPI_Iprobe", Role(0)),
        ("MPI_Comm_idup", Role.COLLECTIVE | Role.CREATES),
        ("MPI_Comm_create_group", Role(0)),
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
