"""A small cluster on one Linux machine: pretended hosts, shared as a test wants it.

Each host is a set of namespaces (network, hostname, IPC, mounts, processes) with an
address, its own ``/dev/shm``, cores and a share of them. Hosts hang on a bridge; the
links to it can be limited. MPI takes them for different machines, and its traffic
really crosses the links. Needs root, control groups and Debian's ``iproute2`` and
``util-linux``; :func:`tests.testbed.cluster.lacking` says what a machine lacks.

``python -m tests.testbed`` does by hand what tests and benchmarks do with `Cluster`.
Not pretended: latency, NUMA, RDMA, memory bandwidth of its own, clocks that differ.
"""

import os

# Tools of root, where a user's search path need not lead.
os.environ["PATH"] = f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin"
