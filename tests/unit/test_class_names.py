"""A public class has a name that no other class of the package has."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import skelgen

ROOT = Path(skelgen.__file__).parent


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
