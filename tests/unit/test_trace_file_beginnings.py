"""The first bytes of files."""

import os

import pytest

from skelgen.trace.file_beginnings import beginning, beginning_and_size


def test_no_more_is_read_than_wanted(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert beginning(path, 4) == b"0123"
    assert beginning_and_size(path, 4) == (b"0123", 10)
    assert beginning_and_size(path, 100) == (b"0123456789", 10)


def test_a_system_that_gives_a_few_bytes_at_a_time_is_asked_again(
    tmp_path, monkeypatch
):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    read = os.read
    monkeypatch.setattr(os, "read", lambda file, most: read(file, min(most, 3)))
    assert beginning(path, 8) == b"01234567"
    assert beginning(path, 100) == b"0123456789"


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        beginning(tmp_path / "none", 4)
