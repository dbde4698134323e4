"""The Bratu problem, a nonlinear equation in two dimensions, again and again.

``bratu.py STEPS POINTS``: PETSc solves it by Newton's method and GMRES, for other first
guesses. Debian: ``python3-petsc4py-real``.
"""

from __future__ import annotations

import sys

import numpy as np
from petsc4py import PETSc

LAMBDA = 6.0


def main(steps: int, points: int) -> None:
    grid = PETSc.DMDA().create([points, points], stencil_width=1, setup=True)
    (first, last), (low, high) = grid.getRanges()
    columns, rows = np.mgrid[first:last, low:high]
    edge = (columns % (points - 1) == 0) | (rows % (points - 1) == 0)
    around = np.zeros((last - first + 2, high - low + 2))
    wide = slice(max(first - 1, 0), last + 1), slice(max(low - 1, 0), high + 1)
    place = slice(first == 0, None), slice(low == 0, None)

    def residual(_: PETSc.SNES, guess: PETSc.Vec, result: PETSc.Vec) -> None:
        local = grid.getLocalVec()
        grid.globalToLocal(guess, local)
        known = grid.getVecArray(local)
        values = known[wide]
        around[place][: values.shape[0], : values.shape[1]] = values
        own = around[1:-1, 1:-1]
        across = around[:-2, 1:-1] + around[2:, 1:-1]
        along = around[1:-1, :-2] + around[1:-1, 2:]
        source = LAMBDA / (points - 1) ** 2 * np.exp(own)
        grid.getVecArray(result)[first:last, low:high] = np.where(
            edge, own, 4 * own - across - along - source
        )
        grid.restoreLocalVec(local)

    solver = PETSc.SNES().create()
    solver.setDM(grid)
    solver.setFunction(residual, grid.createGlobalVec())
    solver.setUseMF(True)
    linear = solver.getKSP()
    linear.setType("gmres")
    linear.getPC().setType("none")
    linear.setTolerances(rtol=0.01)
    found = grid.createGlobalVec()
    for step in range(steps):
        found.set(0.01 * (step % 3))
        solver.solve(None, found)
    largest = found.max()[1]
    if grid.comm.rank == 0:
        print(f"{largest:.6f}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
