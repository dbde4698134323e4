"""Diffusion of a periodic field by Fourier transforms (mpi4py-fft): all to all.

``mpirun -n 2 python spectral.py 64 400``: a grid of 64 x 64 x 64 points, 400 steps,
each of them there and back, with the ranks' slabs transposed on either way.
"""

import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

points, steps = (int(word) for word in sys.argv[1:3])
transform = PFFT(MPI.COMM_WORLD, (points, points, points), dtype=float)
field = newDistArray(transform, False)
field[:] = np.random.default_rng(MPI.COMM_WORLD.rank).random(field.shape)
waves = newDistArray(transform, True)
numbers = [np.fft.fftfreq(points, 1 / points)] * 2 + [np.arange(points // 2 + 1)]
own = [n[part] for n, part in zip(numbers, waves.local_slice(), strict=True)]
square = sum(k**2 for k in np.meshgrid(*own, indexing="ij", sparse=True))
damping = np.exp(-1e-4 * square)
before = MPI.COMM_WORLD.allreduce(float(field.sum()))
for _ in range(steps):
    waves = transform.forward(field, waves)
    waves *= damping
    field = transform.backward(waves, field)
after = MPI.COMM_WORLD.allreduce(float(field.sum()))
if MPI.COMM_WORLD.rank == 0:
    kept = abs(after - before) <= 1e-9 * abs(before)
    print(f"mean {after / points**3:.9f}, {'kept' if kept else 'LOST'}")
