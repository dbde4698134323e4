"""Compile the recorders of all MPIs into skelgen's cache: then no test waits for it."""

from tests.mpis import MPIS
from tests.shim.conftest import shim_of

if __name__ == "__main__":
    for mpi in MPIS:
        shim_of(mpi)
