"""Hold every answer that a test prints against its schema in docs/schemas."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema_rs

SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"


@cache
def _validator(name: str):
    text = (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
    return jsonschema_rs.validator_for(json.loads(text))


def check_answer(answer: dict) -> None:
    """Fail unless an answer is what its schema says.

    The validator reads JSON, so that what Python prints is what is checked. It takes no
    halves of characters, which names of files may have: they are replaced.
    """
    text = json.dumps(answer, allow_nan=False, ensure_ascii=False)
    printed = json.loads(text.encode("utf-8", "replace"))
    _validator(printed["result"]).validate(printed)
