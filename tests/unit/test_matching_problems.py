"""Calls without partners are described, one line for each function."""

from skelgen.matching import match
from tests import builders


def problems(text):
    return match(builders.calls(text)).problems


def test_each_function_has_one_line_with_its_count():
    lines = problems("""
        rank 0
          repeat 3 {
            Send to=1 tag=4
          }
          Recv from=1 tag=5
        rank 1
    """)
    assert lines == (
        "MPI_Send: 3 calls of rank 0, first rank 0 call 0, without a partner "
        "(peer 1, tag 4 on the world communicator of ranks 0,1)",
        "MPI_Recv: 1 call of rank 0, first rank 0 call 3, without a partner "
        "(peer 1, tag 5 on the world communicator of ranks 0,1)",
    )


def test_collectives_name_their_communicator():
    lines = problems("""
        rank 0-5
          Barrier
        rank 0-4
          Allreduce bytes=8 op=1
    """)
    assert lines == (
        "MPI_Allreduce: 5 calls of ranks 0, 1, 2, 3, ..., first rank 0 call 1, without "
        "all participants on the world communicator of ranks 0,1,2,3,...",
    )


def test_roots_that_differ_are_named():
    lines = problems("""
        rank 0
          Bcast root=0 bytes=8
        rank 1
          Bcast root=1 bytes=8
    """)
    assert lines[-1] == (
        "collective 0 on the world communicator of ranks 0,1: MPI_Bcast with root 0 at "
        "rank 0 call 0 meets MPI_Bcast with root 1 at rank 1 call 0"
    )


def test_calls_that_are_dragged_along_are_counted():
    lines = problems("""
        rank 0
          Send_init to=1 tag=1 as=a
          Send_init to=1 tag=2 as=b
          Startall of=a,b
        rank 1
          Recv from=0 tag=1
    """)
    assert lines[0].startswith("MPI_Startall: 1 call of rank 0")
    assert lines[1] == "1 calls share an event with calls without partner"
