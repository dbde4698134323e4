"""``python -m benchmarks.demonstration measure|write``: see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.demonstration.measure import measure
from benchmarks.demonstration.write import write
from skelgen.errors import SkelgenError
from tests.testbed.control_groups import TestbedError


def main() -> int:
    """Measure or write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demonstration")
    parser.add_argument("what", choices=("measure", "write"))
    parser.add_argument("--results", type=Path, required=True, help="folder, kept")
    parser.add_argument("--kernels", type=Path, help="kernels.jsonl")
    parser.add_argument("--multicore", type=Path, help="multicore.jsonl")
    parser.add_argument("--real", type=Path, help="folder of real.jsonl")
    options = parser.parse_args()
    options.results = options.results.absolute()
    more = (options.kernels, options.multicore, options.real)
    if options.what == "write" and None in more:
        parser.error("write needs --kernels, --multicore and --real as well")
    try:
        if options.what == "measure":
            measure(options.results)
        else:
            write(options.results, options.kernels, options.multicore, options.real)
    except (SkelgenError, TestbedError) as error:
        print(f"benchmarks.demonstration: {error}", file=sys.stderr)
        return int(error.exit_code) if isinstance(error, SkelgenError) else 5
    except KeyboardInterrupt:  # what was made is kept
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
