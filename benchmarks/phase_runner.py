"""How soon, and how well, do phases tell the time of an application? SET and PETE.

``python benchmarks/phase_runner.py [--ranks 2] [--apps heat2d,...] [--busy]``

LAMMPS (where it is installed) and the examples are recorded once, quiet, and their
phases stored. Then `skelgen measure` and whole runs take turns, three of each: SET over
the application's time (AET), and the error of the predicted time (PAET) against AET,
medians. With ``--busy`` a second round runs beside a busy process on one core. The goal
is SET/AET of at most 10 % where weights are 30 and more, and an error of at most 5 %
quiet, 10 % beside the busy process. About 15 minutes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.skeletons import EXAMPLES, Trial, applications, busy_core, skelgen

RUNS = 3
#: Beside those that skeletons are tried with: two phases in turn, O(n) and O(n^2).
MORE = {"two_phases": ("4000", "400", "40")}

HEAD = (
    f"{'application':<20}{'':<7}{'phases':>7}{'weights':>12}{'AET':>9}{'SET':>9}"
    f"{'SET/AET':>9}{'PAET':>9}{'error':>8}  verdict"
)


class PhaseTrial(Trial):
    """One application and its phase signature."""

    def build(self) -> None:
        self.application_s()
        self.signature = f"{self.application.name}.sig"
        skelgen(self.folder, "phases", self.recorded, "-o", self.signature)

    def show(self, condition: str) -> None:
        """Measure and run in turn, and print a line."""
        found, whole_s = [], []
        for _ in range(RUNS):
            found.append(skelgen(self.folder, "measure", self.signature))
            whole_s.append(self.application_s())
        aet_s = statistics.median(whole_s)
        set_s, paet_s = (
            statistics.median(one[name] for one in found)
            for name in ("set_s", "paet_s")
        )
        weights = [phase["weight"] for phase in found[0]["phases"]]
        shown = f"{min(weights)}..{max(weights)}"
        trusted = sum(one["verdict"] == "trust" for one in found)
        print(
            f"{self.application.name:<20}{condition:<7}{len(weights):>7}{shown:>12}"
            f"{aet_s:>8.2f}s{set_s:>8.2f}s{set_s / aet_s:>9.1%}{paet_s:>8.2f}s"
            f"{paet_s / aet_s - 1:>+8.1%}  {trusted} of {RUNS} trusted",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--apps", default=",".join(["lammps", *EXAMPLES, *MORE]))
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print(HEAD, flush=True)
        wanted = set(options.apps.split(","))
        for application in applications(folder, wanted, EXAMPLES | MORE):
            trial = PhaseTrial(application, folder, options.ranks)
            trial.build()
            for condition in ["quiet", "busy"] if options.busy else ["quiet"]:
                with busy_core() if condition == "busy" else nullcontext():
                    trial.show(condition)


if __name__ == "__main__":
    main()
