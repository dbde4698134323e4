"""What processes hold that an image must hold, or cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.errors import ApplicationError, MachineError
from skelgen.phase_execution.processes import (
    check_devices,
    copy_own_files,
    files_open_for_writing,
    give_files_back,
    keep_files,
)


def fake_process(folder: Path, *targets: Path | str) -> Path:
    (folder / "fd").mkdir(parents=True)
    (folder / "fdinfo").mkdir()
    for number, target in enumerate(targets):
        (folder / f"fd/{number}").symlink_to(target)
        (folder / f"fdinfo/{number}").write_text("pos:\t0\nflags:\t0100001\n")
    return folder


@pytest.mark.parametrize(
    ("device", "text"),
    [("/dev/infiniband/uverbs0", "InfiniBand"), ("/dev/nvidia0", "GPU")],
)
def test_open_adapters_and_gpus_are_refused(
    tmp_path: Path, device: str, text: str
) -> None:
    check_devices([fake_process(tmp_path / "1", "/dev/null")])
    with pytest.raises(MachineError, match=f"cannot be saved: .*{text}.*{device}"):
        check_devices([fake_process(tmp_path / "2", "/dev/null", device)])


def test_files_being_written_are_found_and_must_be_in_the_image(tmp_path: Path) -> None:
    file = tmp_path / "result"
    file.write_text("12345")
    process = fake_process(tmp_path / "1", file, "/dev/null")
    assert files_open_for_writing([process], ()) == {str(file): 5}
    assert files_open_for_writing([process], {tmp_path.stat().st_dev}) == {}
    with pytest.raises(ApplicationError, match="cannot be as it was"):
        give_files_back({str(file): 5}, tmp_path)


def test_files_that_were_open_come_back_as_they_were(
    tmp_path: Path,
) -> None:
    files = [tmp_path / name for name in ("log", "result")]
    lengths: dict[str, dict[str, int]] = {}
    for image, text in (("early", "12"), ("late", "1234567")):
        (tmp_path / image).mkdir()
        for file in files:
            file.write_text(f"{file.name} {text}")
        lengths[image] = {str(file): file.stat().st_size for file in files}
        keep_files(lengths[image], tmp_path / image)
    for image, text in (("early", "12"), ("late", "1234567"), ("early", "12")):
        give_files_back(lengths[image], tmp_path / image)
        assert [one.read_text() for one in files] == [f"log {text}", f"result {text}"]
        files[0].write_text("of another run, and longer")
        files[1].unlink()


def test_what_is_in_tmp_already_stays_when_an_image_is_loaded(tmp_path: Path) -> None:
    image, folder = tmp_path / "image", tmp_path / "tmp"
    (image / "own").mkdir(parents=True)
    (image / "own/file").write_text("of the application")
    (image / "link").symlink_to("nowhere")
    (image / "log").write_text("of the application")
    folder.mkdir()
    (folder / "link").symlink_to("nowhere")
    (folder / "log").write_text("of the machine")
    copy_own_files(image, folder)
    assert (folder / "log").read_text() == "of the machine"
    assert (folder / "own/file").read_text() == "of the application"
