"""``python -m benchmarks.models simulated``: see the module of that name."""

from __future__ import annotations

import importlib
import sys

from skelgen.errors import SkelgenError
from tests.testbed.control_groups import TestbedError

#: What can be asked for, and its module.
KINDS = {
    **{one: one for one in ("simulated", "next", "loads")},
    **{one: one for one in ("kernels", "multicore", "real", "speed", "mutated")},
    **{one: one for one in ("quantities", "systems")},
    "random": "random_fits",
}


def main() -> int:
    """Call a benchmark; return the exit code."""
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        print(f"usage: python -m benchmarks.models {{{','.join(KINDS)}}} ...")
        return 2
    try:
        module = importlib.import_module(f"benchmarks.models.{KINDS[sys.argv[1]]}")
        module.main(sys.argv[2:])
    except (SkelgenError, TestbedError) as error:
        print(f"benchmarks.models: {error}", file=sys.stderr)
        return int(error.exit_code) if isinstance(error, SkelgenError) else 5
    except KeyboardInterrupt:  # what was made is kept
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
