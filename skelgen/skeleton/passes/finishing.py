"""Why programs finish: they are simulated, and refused when they stall."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skelgen.errors import InputError
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.proof.flaws import find_flaw
from skelgen.skeleton.proof.script import script_of


@dataclass(frozen=True, slots=True)
class Proof:
    """Simulate the programs, with sends that wait and with sends that do not."""

    def applies(self, draft: Draft) -> bool:
        """Say whether there are programs."""
        return draft.nodes is not None

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with the first flaw of its programs."""
        assert draft.nodes is not None
        script = script_of(
            draft.programs,
            draft.symbols.functions,
            draft.symbols.table,
            draft.signature.families,
        )
        return replace(draft, flaw=find_flaw(script, draft.nodes.describe))

    def doubts(self, draft: Draft) -> list[str]:
        """Doubt nothing: what does not finish is mended, or refused."""
        return []


@dataclass(frozen=True, slots=True)
class Refusal:
    """Refuse an application whose calls cannot finish."""

    def applies(self, draft: Draft) -> bool:
        """Say whether the programs stall, or do not fit each other."""
        return draft.flaw is not None

    def rewrite(self, draft: Draft) -> Draft:
        """Say why there is no skeleton."""
        flaw, signature = draft.flaw, draft.signature
        assert flaw is not None
        if not flaw.stalled:
            raise InputError(
                f"the recorded calls do not fit each other ({flaw.message}): record "
                "again"
            )
        how = "without buffers" if flaw.rendezvous else "even though sends are buffered"
        if signature.concurrent_ranks:
            raise InputError(
                f"the threads of {signature.concurrent_ranks} ranks were in MPI calls "
                "at the same time, and one thread cannot execute these calls in any "
                f"order that was found, {how}: {flaw.message}; a skeleton has one "
                "thread in each rank: record a run in which one thread calls MPI"
            )
        raise InputError(
            f"the application's calls cannot finish {how}: {flaw.message}; it relies "
            "on its MPI library in a way that skeletons do not repeat"
        )

    def doubts(self, draft: Draft) -> list[str]:
        """Doubt nothing."""
        return []
