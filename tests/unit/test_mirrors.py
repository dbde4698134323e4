"""Every module has a test file of its own name, or the list says what tests it."""

from __future__ import annotations

import pytest

from tests import mirrors


def test_every_module_is_mirrored_or_listed() -> None:
    assert len(mirrors.without_own_test()) > 100  # the check sees something
    assert mirrors.not_listed() == []


def test_nothing_that_is_listed_is_gone() -> None:
    assert mirrors.stale() == []


def test_test_files_reach_the_modules_for_which_they_are_listed() -> None:
    assert mirrors.unreached() == []
    assert mirrors.idle() == []


def test_an_entry_is_found_out_when_it_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = mirrors.Listed(
        ("dwarf/elf.py", "gone.py"), ("unit/test_mirrors.py", "no.py")
    )
    monkeypatch.setattr(mirrors, "listed", lambda: (wrong,))
    assert mirrors.stale() == ["gone.py", "no.py"]
    assert mirrors.unreached() == ["dwarf/elf.py"]
    assert mirrors.idle() == ["unit/test_mirrors.py", "no.py"]
    assert "dwarf/elf.py" not in mirrors.not_listed() != []
