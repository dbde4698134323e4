"""Messages in parts are sent whole, and the plan says so."""

from __future__ import annotations

from skelgen.skeleton.plan import plan
from tests.skeletons import signature

PARTS = """
rank 0
  Psend_init to=1 tag=1 bytes=800 as=p
  repeat 20 {
    1000 Start of=p
    Wait of=p
  }
rank 1
  Precv_init from=0 tag=1 bytes=800 as=p
  repeat 20 {
    1000 Start of=p
    Wait of=p
  }
"""
WHOLE = PARTS.replace("Psend", "Send").replace("Precv", "Recv")


def doubts(text: str) -> list[str]:
    made = plan(signature(text), 2)
    return [one for one in made.report.warnings if "partitioned" in one]


def test_parts_become_one_message_and_a_doubt() -> None:
    assert doubts(PARTS) == [
        "the skeleton sends partitioned messages whole, when they are started"
    ]


def test_persistent_messages_leave_no_doubt() -> None:
    assert doubts(WHOLE) == []
