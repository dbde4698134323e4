"""Messages in parts that are ready one by one (``MPI_Psend_init``)."""

from __future__ import annotations

from dataclasses import dataclass

from skelgen.events import function_info
from skelgen.skeleton.passes.draft import Draft


@dataclass(frozen=True, slots=True)
class PartitionedMessages:
    """Send partitioned messages whole, when they are started."""

    def applies(self, draft: Draft) -> bool:
        """Say whether the application sends messages in parts."""
        names = draft.signature.functions
        return any(function_info(name).mode == "partitioned" for name in names)

    def rewrite(self, draft: Draft) -> Draft:
        """Keep the draft: matching has made each of them one message."""
        return draft

    def doubts(self, draft: Draft) -> list[str]:
        """Say that parts do not leave one by one."""
        return ["the skeleton sends partitioned messages whole, when they are started"]
