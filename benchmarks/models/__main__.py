"""``python -m benchmarks.models simulated``: see the module of that name."""

from __future__ import annotations

import sys

from benchmarks.models import simulated

if __name__ == "__main__":
    kinds = {"simulated": simulated.main}
    if len(sys.argv) < 2 or sys.argv[1] not in kinds:
        sys.exit(f"usage: python -m benchmarks.models {{{','.join(kinds)}}} ...")
    kinds[sys.argv[1]](sys.argv[2:])
