"""jacobi: a 1-D Jacobi iteration with halo exchange, in Python with mpi4py.

mpirun -n 4 python jacobi.py [POINTS PER RANK] [STEPS]
"""

import sys

import numpy as np
from mpi4py import MPI


def main() -> None:
    world = MPI.COMM_WORLD
    rank, ranks = world.Get_rank(), world.Get_size()
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    left = rank - 1 if rank > 0 else MPI.PROC_NULL
    right = rank + 1 if rank + 1 < ranks else MPI.PROC_NULL
    values = np.zeros(points + 2)
    if rank == 0:
        values[0] = 1.0
    change = np.zeros(1)
    largest = np.ones(1)
    for step in range(steps):
        world.Sendrecv(values[1:2], left, 0, values[-1:], right, 0)
        world.Sendrecv(values[-2:-1], right, 1, values[:1], left, 1)
        relaxed = 0.5 * (values[:-2] + values[2:])
        change[0] = np.abs(relaxed - values[1:-1]).max()
        values[1:-1] = relaxed
        if step % 10 == 9:
            world.Allreduce(change, largest, MPI.MAX)
    total = world.reduce(values[1:-1].sum(), MPI.SUM, 0)
    if rank == 0:
        print(f"jacobi: {steps} steps, sum {total:.12g}, change {largest[0]:.6g}")


if __name__ == "__main__":
    main()
