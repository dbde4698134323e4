"""How many skeletons of random MPI programs stall, mismatch or truncate?

``python benchmarks/deadlock.py [--programs 10000] [--jobs 2] [--seed 0]``

Every program is scaled down twice: as an order-preserving subset of whole matched
events, which is what skelgen does, and by the rules of the 2005 paper, which divide
each rank on its own by a whole K of at least 2. Both are run by the simulator, with
rendezvous and with eager sends. Exits with 1 when a skeleton of ours fails.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skelgen.errors import SkelgenError, UsageError
from skelgen.signature import Signature
from skelgen.skeleton.keep.expansion import expand
from skelgen.skeleton.paper2005.division import DividedCalls, loop_shares
from skelgen.skeleton.paper2005.plan import whole_factor
from skelgen.skeleton.paper2005.quantities import DividedQuantities
from skelgen.skeleton.passes.draft import draft_of
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.plain_simulation import simulate_plain
from skelgen.skeleton.proof.script import Script, script_of
from skelgen.skeleton.proof.simulation import simulate
from tests.random_programs import random_program
from tests.summaries import build

FACTORS = (1.05, 1.2, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 15, 25)
FLAWS = ("stalls", "mismatches", "truncates", "leaves messages", "misuses requests")
OURS, PAPER = "whole matched events", "rules of 2005"


def flaws(script: Script, *, twice: bool = False) -> set[str]:
    """Return what is wrong with a skeleton, in either protocol."""
    found = set()
    for rendezvous in (True, False):
        outcome = simulate(script, rendezvous=rendezvous)
        if twice and simulate_plain(script, rendezvous=rendezvous) != outcome:
            raise AssertionError("the simulators disagree")
        numbers = (
            outcome.stalled,
            outcome.mismatched,
            outcome.truncated,
            not outcome.stalled and outcome.unreceived + outcome.unsent,
            outcome.misused,
        )
        found |= {name for name, n in zip(FLAWS, numbers, strict=True) if n}
    return found


def divided(signature: Signature, factor: float) -> Script:
    """Divide each rank on its own, and mend nothing."""
    whole = float(whole_factor(signature, max(factor, 2)))
    draft = draft_of(signature, whole, expand(signature, 1 / whole, loop_shares))
    draft = DividedQuantities().rewrite(DividedCalls().rewrite(draft))
    symbols = draft.symbols
    return script_of(
        draft.programs, symbols.functions, symbols.table, signature.families
    )


def one(seed: int) -> Counter[tuple[str, str]]:
    """Scale one random program both ways and count what is wrong."""
    rng = random.Random(seed)
    signature = build(random_program(rng, calls=rng.choice((60, 150, 300)))).signature
    while not any(group.count.sum() for group in signature.groups):
        signature = build(random_program(rng, calls=300)).signature
    found: Counter[tuple[str, str]] = Counter({("", "programs"): 1})
    for factor in (rng.choice(FACTORS), 1.2, 1.01):
        try:
            found += ours(signature, factor, twice=seed % 20 == 0)
            break
        except UsageError:  # nothing left; try a smaller factor
            continue
        except SkelgenError as error:
            print(f"seed {seed}, K = {factor}: {error}", file=sys.stderr)
            found[OURS, "refused"] += 1
            break
    try:
        wrong = flaws(divided(signature, factor))
    except SkelgenError:  # the paper knows no one-sided communication
        found[PAPER, "refused"] += 1
        return found
    found.update((PAPER, flaw) for flaw in wrong)
    found[PAPER, "any"] += bool(wrong)
    return found


def ours(
    signature: Signature, factor: float, *, twice: bool
) -> Counter[tuple[str, str]]:
    made = plan(signature, factor)
    script = script_of(made.programs, made.functions, made.symbols, signature.families)
    wrong = flaws(script, twice=twice)
    found: Counter[tuple[str, str]] = Counter((OURS, flaw) for flaw in wrong)
    found[OURS, "any"] += bool(wrong)
    found[OURS, "mended"] += any("buffered" in text for text in made.report.warnings)
    found["", "calls"] += sum(script.first[1:].tolist()[-1:])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    total: Counter[tuple[str, str]] = Counter()
    begin = time.perf_counter()
    seeds = range(options.seed, options.seed + options.programs)
    with ProcessPoolExecutor(options.jobs) as pool:
        for found in pool.map(one, seeds, chunksize=50):
            total += found
    took_s = time.perf_counter() - begin
    programs = total["", "programs"]
    print(
        f"{programs} random programs, {total['', 'calls']} calls kept, {took_s:.0f} s"
    )
    columns = [*FLAWS, "any", "refused", "mended"]
    print(f"{'':24}" + "".join(f"{name:>18}" for name in columns))
    for method in (OURS, PAPER):
        cells = [total[method, name] for name in columns]
        print(f"{method:24}" + "".join(f"{n:>18}" for n in cells))
    if divided_programs := programs - total[PAPER, "refused"]:
        share = total[PAPER, "any"] / divided_programs
        print(f"{PAPER}: {share:.1%} of {divided_programs} programs fail")
    return int(total[OURS, "any"] + total[OURS, "refused"] > 0)


if __name__ == "__main__":
    sys.exit(main())
