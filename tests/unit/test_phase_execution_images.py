"""What is said of images and of the tools that make them, without those tools."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skelgen.errors import ApplicationError, InputError, MachineError, UsageError
from skelgen.launch.command import LaunchCommand
from skelgen.launch.host_runner import LocalRunner
from skelgen.launch.launchers import Srun
from skelgen.launch.mpi import Mpi, MpiKind
from skelgen.launch.own_folders import FolderKind, mark
from skelgen.phase_execution import (
    Application,
    WantedOccurrence,
    checkpoint,
    criu,
    fetch_criu,
    images,
    namespaces,
)
from skelgen.phase_execution.checkpoint import ImageRun
from skelgen.phase_execution.criu import CriuBackend, complaint
from skelgen.phase_execution.images import (
    ImageContent,
    Machine,
    Manifest,
    check_disk,
    check_machine,
    complete,
    content_of,
    new_image,
    read_manifest,
    ready,
    size_bytes,
    write_manifest,
)
from skelgen.phase_execution.marks import HOLD, STOP

HERE = Machine("6.18.1", "EPYC", ("avx", "sse2"))


def application(*options: str) -> Application:
    launch = LaunchCommand((), None, options, None, ("/bin/true",), None)
    return Application(launch=launch, ranks=2)


def wanted(occurrence: int, first: int) -> WantedOccurrence:
    return WantedOccurrence(
        phase=1,
        occurrence=occurrence,
        begin=np.array([first + 10, first + 12]),
        end=np.array([first + 20, first + 22]),
        warm=np.array([first, first + 2]),
    )


def whole_image(image: Path, content: ImageContent | None = None) -> Manifest:
    image.mkdir(mode=0o700)
    content = content or ImageContent("criu", "MPICH 5", "abc", 2, 1, 4, (10, 20))
    manifest = Manifest(content, HERE, 4096, str(image), 1001, 1009, {"/x/out": 5})
    write_manifest(image, manifest)
    return manifest


def test_a_manifest_comes_back_as_it_was_written(tmp_path: Path) -> None:
    manifest = whole_image(tmp_path / "image")
    assert read_manifest(tmp_path / "image") == manifest


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"content": 1, "machine": 2}'])
def test_half_an_image_is_refused(tmp_path: Path, text: str) -> None:
    whole_image(tmp_path / "image")
    (tmp_path / "image/manifest.json").write_text(text)
    with pytest.raises(InputError, match="no whole image"):
        read_manifest(tmp_path / "image")


@pytest.mark.parametrize("what", ["is missing", "has 2 of 3 bytes"])
def test_an_image_of_which_something_is_missing_is_refused(
    tmp_path: Path, what: str
) -> None:
    with new_image(tmp_path / "image") as image:
        (image / "shm").mkdir()
        pages = image / "shm/pages"
        pages.write_bytes(bytes(3))
        complete(image, ImageContent("criu"), {})
    assert ready(image) == read_manifest(image)
    if what == "is missing":
        shutil.rmtree(pages.parent)
    else:
        os.truncate(pages, 2)
    with pytest.raises(InputError, match=rf"shm/pages {what}\); remove it and make"):
        ready(image)


def test_an_image_that_others_can_read_is_refused(tmp_path: Path) -> None:
    whole_image(tmp_path / "image")
    (tmp_path / "image").chmod(0o750)
    with pytest.raises(MachineError, match="use only your own"):
        read_manifest(tmp_path / "image")


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        (replace(HERE, cpu="Xeon"), "made on EPYC, this is Xeon"),
        (replace(HERE, cpu_flags=("sse2",)), "this processor lacks avx"),
        (replace(HERE, kernel="6.1.0"), "made on Linux 6.18.1, this is 6.1.0"),
    ],
)
def test_an_image_of_another_machine_is_refused_with_the_reason(
    tmp_path: Path, machine: Machine, reason: str
) -> None:
    manifest = whole_image(tmp_path / "image")
    check_machine(manifest, tmp_path / "image", HERE)
    with pytest.raises(MachineError, match=reason):
        check_machine(manifest, tmp_path / "image", machine)


def test_an_image_that_was_moved_is_refused(tmp_path: Path) -> None:
    whole_image(tmp_path / "image")
    (tmp_path / "image").rename(tmp_path / "moved")
    manifest = read_manifest(tmp_path / "moved")
    with pytest.raises(MachineError, match="found only there"):
        check_machine(manifest, tmp_path / "moved", HERE)


def test_an_image_is_its_owners_only_and_goes_when_it_fails(tmp_path: Path) -> None:
    with new_image(tmp_path / "image") as image:
        assert image.stat().st_mode & 0o777 == 0o700
    failure = pytest.raises(KeyboardInterrupt)
    with failure, new_image(tmp_path / "other") as image:
        (image / "pages.img").touch()
        raise KeyboardInterrupt
    full = pytest.raises(MachineError, match=r"cannot be used .*No space left")
    with full, new_image(tmp_path / "other"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert [one.name for one in tmp_path.iterdir()] == ["image"]
    taken = pytest.raises(MachineError, match="File exists")
    with taken, new_image(tmp_path / "image"):
        pass


def test_a_disk_that_is_too_small_is_refused_before(tmp_path: Path) -> None:
    check_disk(tmp_path, 1)
    with pytest.raises(MachineError, match="left: free some, or name another"):
        check_disk(tmp_path, 2 * shutil.disk_usage(tmp_path).total)


def test_files_that_vanish_meanwhile_do_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    size = size_bytes(tmp_path)
    assert size >= 1 << 20
    walked = [(str(tmp_path), ["lost"], ["file", "vanished"])]
    monkeypatch.setattr(os, "walk", lambda _: iter(walked))
    assert size_bytes(tmp_path) == size


def test_an_output_that_the_arguments_name_makes_no_other_content(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        images, "mpi_of", lambda _: Mpi(MpiKind.MPICH, "5", tmp_path, None)
    )
    program = ("/bin/true", "input", "output")
    launch = LaunchCommand((), None, (), None, program, None)
    one = Application(launch, 2, tmp_path, files=("/bin/true", str(tmp_path / "input")))

    def content() -> ImageContent:
        return content_of("criu", one)

    (tmp_path / "input").write_text("1")
    before = content()
    (tmp_path / "output").write_text("1")
    assert content() == before
    (tmp_path / "input").write_text("2")
    assert content() != before


def test_criu_is_asked_for_what_mpi_needs(tmp_path: Path) -> None:
    dump = criu.dump_arguments(1002, tmp_path)
    restore = criu.restore_arguments(tmp_path)
    assert dump[:5] == ["dump", "--tree", "1002", "--images-dir", str(tmp_path)]
    assert restore[:2] == ["restore", "--restore-detached"]
    for arguments in (dump, restore):
        for option in (
            *("--tcp-established", "--ext-unix-sk", "--file-locks", "--link-remap"),
            "--network-lock skip",
        ):
            assert option in " ".join(arguments)
    assert dump[-2:] == ["--ghost-limit", "256M"]


def test_a_fetched_criu_runs_with_its_own_loader(tmp_path: Path) -> None:
    command = fetch_criu.own_command(tmp_path)
    libraries = tmp_path / "usr/lib/x86_64-linux-gnu"
    assert command == [
        str(libraries / "ld-linux-x86-64.so.2"),
        *("--library-path", str(libraries), str(tmp_path / "usr/sbin/criu")),
    ]
    options = fetch_criu.apt_options(tmp_path)
    named = [one for one in options if "Dir::" in one]
    assert all(f"={tmp_path}" in one for one in named)
    # The machine's own sources and lists, and nothing that is not signed.
    assert not any("Etc" in one or "lists" in one for one in named)
    assert "APT::Get::AllowUnauthenticated=false" in options


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("criu:\n  Candidate: 3.17.1-2+deb12u2\n", "sources offer 3.17.1"),
        ("criu:\n  Candidate: (none)\n", "sources have none"),
        ("", "sources have none"),
    ],
)
@pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="apt is asked on x86-64 only"
)
def test_package_sources_without_a_new_criu_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, policy: str, said: str
) -> None:
    for name in ("apt-get", "apt-cache", "dpkg-deb"):
        text = f"#!/bin/sh\nprintf '{policy}'\necho asked >> {tmp_path}/{name}.log\n"
        (tmp_path / name).write_text(text.replace("%", "%%"))
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("SKELGEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch_criu, "program", lambda _: None)
    with pytest.raises(MachineError, match=said):
        fetch_criu.find_criu(fetching=True)
    assert [log.name for log in tmp_path.glob("*.log")] == ["apt-cache.log"]
    assert not (tmp_path / "cache").exists()


def test_no_address_of_packages_stands_in_the_code() -> None:
    text = Path(fetch_criu.__file__).read_text()
    assert "://" not in text and "keyring" not in text


def test_the_first_error_of_criu_is_told_but_not_that_of_containers(
    tmp_path: Path,
) -> None:
    log = tmp_path / "dump.log"
    log.write_text(
        "(00.1) Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE\n"
        "(00.2) Warn  (criu/x.c:1): harmless\n"
        "(00.3) Error (criu/files-reg.c:1790): Can't lookup mount=24\n"
        "(00.4) Error (criu/cr-dump.c:1975): Dumping FAILED.\n"
    )
    assert complaint(log) == "(criu/files-reg.c:1790): Can't lookup mount=24"
    assert complaint(tmp_path / "none") == "it does not say why"


def test_backends_with_images_refuse_several_hosts() -> None:
    here, typed = application(), application("-hosts", "n1,n2")
    named = replace(here, runner=LocalRunner(Srun(("srun",))))
    step = replace(here, launch=replace(here.launch, launcher=Srun(("srun",))))
    for one in (typed, named, step):
        assert not CriuBackend().probe(one).works
        assert "--backend live" in CriuBackend().probe(one).text


@pytest.mark.parametrize(
    ("options", "elsewhere"),
    [
        ("-hosts n1,n2", True),
        ("--host=n1", True),
        ("--hostfile nodes", True),
        ("-hosts localhost,n2", True),
        ("-H localhost", False),
        ("-f nodes -ppn 2", True),
        ("-n 2 -ppn 2 --host localhost:2", False),
        ("-genv HOST n1", False),
    ],
)
def test_a_launch_that_names_hosts_may_be_elsewhere(
    options: str, elsewhere: bool
) -> None:
    assert application(*options.split()).elsewhere is elsewhere


def test_without_privilege_namespaces_of_users_are_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in (criu, namespaces):
        monkeypatch.setattr(module, "privileged", lambda: False)
    assert "--map-root-user" in namespaces.unshare_command()
    assert "--unprivileged" in criu.dump_arguments(7, tmp_path)
    assert "--unprivileged" in criu.restore_arguments(tmp_path)
    for module in (criu, namespaces):
        monkeypatch.setattr(module, "privileged", lambda: True)
    assert "--map-root-user" not in namespaces.unshare_command()
    assert "--unprivileged" not in criu.dump_arguments(7, tmp_path)


def test_where_namespaces_of_users_are_off_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(namespaces, "privileged", lambda: False)
    monkeypatch.setattr(namespaces, "_forbidden", lambda: "user.max is 0")
    monkeypatch.setattr(
        namespaces, "unshare_command", lambda: ["sh", "-c", "echo no >&2; exit 1"]
    )
    with pytest.raises(
        MachineError, match=r"application: no; .* are off here \(user.max is 0\)"
    ):
        namespaces.Namespaces()


def test_a_missing_criu_is_named_and_not_fetched_unasked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SKELGEN_CACHE", str(tmp_path))
    monkeypatch.setattr(fetch_criu, "program", lambda _: None)
    probe = CriuBackend().probe(application())
    assert not probe.works
    assert "CRIU is not installed" in probe.text
    assert not list(tmp_path.iterdir())


def test_an_old_criu_is_named_with_its_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "criu"
    old.write_text("#!/bin/sh\necho Version: 3.17.1\n")
    old.chmod(0o755)
    monkeypatch.setenv("SKELGEN_CACHE", str(tmp_path))
    monkeypatch.setattr(fetch_criu, "program", lambda _: old)
    with pytest.raises(MachineError, match=r"CRIU is CRIU 3\.17\.1, too old"):
        fetch_criu.find_criu(fetching=False)
    old.write_text("#!/bin/sh\necho Version: 4.2.1\n")
    found = fetch_criu.find_criu(fetching=False)
    assert found.command == (str(old),)
    assert found.version >= fetch_criu.OLDEST


def test_a_cache_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cache").touch()
    monkeypatch.setenv("SKELGEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch_criu, "program", lambda _: None)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/dpkg-deb")
    monkeypatch.setattr(fetch_criu, "offered_version", lambda: fetch_criu.OLDEST)
    if os.uname().machine == "x86_64":
        with pytest.raises(MachineError, match="set SKELGEN_CACHE to a folder"):
            fetch_criu.find_criu(fetching=True)


class Imagined:
    """A checkpointer whose ranks do what their marks say, at once."""

    name = "imagined"

    def __init__(self, *, dies: bool = False) -> None:
        self.dies = dies
        self.done: list[str] = []
        self.folder = Path()

    def start(
        self, command: Sequence[str], folder: Path, variables: dict[str, str], out: Path
    ) -> None:
        self.done.append("start")
        self.folder = out
        self.go_on()

    def go_on(self) -> None:
        for marks in self.folder.glob("rank-*.marks"):
            if self.dies and "000001" in marks.name:
                (self.folder / "err").write_text("rank 1 ran out of luck\n")
                continue
            lines = [line.split() for line in marks.read_text().splitlines()]
            times = [f"{n} {int(n) * 1000} MPI_Send" for n, do in lines if do == "time"]
            said = {HOLD: "held", STOP: "stopped"}[lines[-1][1]]
            text = "\n".join([*times, f"{said} {lines[-1][0]}"]) + "\n"
            marks.with_suffix(".times").write_text(text)

    def save(self, image: Path, content: ImageContent) -> None:
        self.done.append(f"save {content.occurrence}")
        write_manifest(image, Manifest(content, HERE, 1, str(image)))

    def load(self, image: Path) -> None:
        self.done.append(f"load {read_manifest(image).content.occurrence}")
        self.folder = image.parent
        for marks in self.folder.glob("rank-*.marks"):
            assert marks.samefile(f"{marks}.{image.name}")  # ranks hold as they did

    def poll(self) -> int | None:
        self.go_on()
        return 9 if self.dies else None

    def end(self) -> None:
        pass


class FullDisk(Imagined):
    """A checkpointer whose image does not fit."""

    def save(self, image: Path, content: ImageContent) -> None:
        (image / "pages-1.img").touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def image_run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ImageRun]:
    monkeypatch.setattr("skelgen.phase_execution.marks.shim", lambda _: Path("shim.so"))
    monkeypatch.setattr("skelgen.phase_execution.marks.mpi_of", lambda _: None)
    monkeypatch.setattr(
        checkpoint,
        "content_of",
        lambda name, _: ImageContent(name, ranks=2),
    )

    def make(
        imagined: Imagined, *places: WantedOccurrence, kept: Path | None = None
    ) -> ImageRun:
        return ImageRun(application(), places, imagined, 5.0, kept)

    return make


def test_images_are_made_one_from_the_other_and_removed(
    image_run: Callable[..., ImageRun],
) -> None:
    imagined, early, late = Imagined(), wanted(1, 100), wanted(7, 700)
    run = image_run(imagined, late, early)
    run.request(late)
    run.request(early)
    assert imagined.done == ["start", "save 1", "load 1", "save 7"]
    first, again = run.restore(late), run.restore(late)
    assert first == again
    assert first.time_s == pytest.approx(10 * 1000 / 1e9)
    assert imagined.folder.exists()
    run.stop()
    run.stop()
    assert not imagined.folder.exists()


def test_a_folder_of_images_has_one_user_at_a_time(
    image_run: Callable[..., ImageRun], tmp_path: Path
) -> None:
    one, kept = wanted(1, 100), tmp_path / "kept"
    run = image_run(Imagined(), one, kept=kept)
    with pytest.raises(MachineError, match="in use by another skelgen"):
        image_run(Imagined(), one, kept=kept)
    run.stop()
    image_run(Imagined(), one, kept=kept).stop()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"program": "other"}, "is of another program, input or arguments"),
        ({"mpi": "MPICH 4.0"}, "is of MPICH 4.0, not"),
        ({"ranks": 3}, "is of 3 ranks"),
        ({"warm": (1, 2)}, "is of another recording"),
    ],
)
def test_an_image_in_the_place_of_another_is_refused_before_anything_runs(
    image_run: Callable[..., ImageRun],
    tmp_path: Path,
    change: dict[str, Any],
    reason: str,
) -> None:
    kept, one = tmp_path / "kept", wanted(1, 100)
    run = image_run(Imagined(), one, kept=kept)
    run.request(one)
    image = kept / "image-1-1"
    manifest = read_manifest(image)
    changed = replace(manifest, content=replace(manifest.content, **change))
    write_manifest(image, changed)
    run.stop()
    with pytest.raises(InputError, match=f"{reason}.*; remove it, or name another"):
        image_run(Imagined(), one, kept=kept)


def test_what_an_earlier_run_left_beside_its_images_is_not_taken_for_this_ones(
    image_run: Callable[..., ImageRun], tmp_path: Path
) -> None:
    kept, one = tmp_path / "kept", wanted(1, 100)
    run = image_run(Imagined(), one, kept=kept)
    (kept / "run").mkdir()
    for name in ("run/rank-000000.skt", "err", "out"):
        (kept / name).write_text("of the run before\n")
    run.request(one)
    assert not any((kept / name).exists() for name in ("run", "err", "out"))


def test_a_place_where_no_images_can_be_is_named(
    image_run: Callable[..., ImageRun], tmp_path: Path
) -> None:
    place, one = tmp_path / "file", wanted(1, 100)
    place.touch()
    with pytest.raises(MachineError, match=r"file cannot be used .*; mend that, or"):
        image_run(Imagined(), one, kept=place)
    kept = tmp_path / "kept"
    run = image_run(Imagined(), one, kept=kept)
    run.request(one)
    shutil.rmtree(kept)
    with pytest.raises(MachineError, match=r"kept cannot be used .*No such file"):
        run.restore(one)


def test_an_image_that_fails_leaves_no_files_of_marks(
    image_run: Callable[..., ImageRun], tmp_path: Path
) -> None:
    one = wanted(1, 100)
    run = image_run(FullDisk(), one, kept=tmp_path / "kept")
    with pytest.raises(MachineError, match=r"image-1-1 cannot be .*No space left"):
        run.request(one)
    assert not list((tmp_path / "kept").glob("*image-1-1*"))


def test_images_that_are_kept_are_used_again(
    image_run: Callable[..., ImageRun], tmp_path: Path
) -> None:
    kept, one = tmp_path / "kept", wanted(1, 100)
    run = image_run(Imagined(), one, kept=kept)
    run.request(one)
    run.stop()
    assert kept.stat().st_mode & 0o777 == 0o700
    imagined = Imagined()
    run = image_run(imagined, one, kept=kept)
    run.request(one)
    run.restore(one)
    run.stop()
    assert imagined.done == ["load 1"]
    facts = json.loads((kept / "image-1-1/manifest.json").read_text())
    assert facts["content"]["backend"] == "imagined"


def test_half_an_image_of_a_skelgen_that_was_killed_is_made_again(
    image_run: Callable[..., ImageRun], tmp_path: Path
) -> None:
    kept, one = tmp_path / "kept", wanted(1, 100)
    half = kept / "image-1-1"
    half.mkdir(parents=True)
    kept.chmod(0o700)
    mark(kept, FolderKind.IMAGES)
    (half / "pages-1.img").touch()
    imagined = Imagined()
    run = image_run(imagined, one, kept=kept)
    run.request(one)
    run.stop()
    assert imagined.done == ["start", "save 1"]
    assert [file.name for file in half.iterdir()] == ["manifest.json"]


def test_a_file_in_the_place_of_an_image_is_named_and_stays(
    image_run: Callable[..., ImageRun], tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o700)
    mark(kept, FolderKind.IMAGES)
    (kept / "image-1-1").touch(mode=0o600)
    with pytest.raises(InputError, match=r"image-1-1 holds no whole .*remove it"):
        image_run(Imagined(), wanted(1, 100), kept=kept)
    assert (kept / "image-1-1").exists()


def test_a_folder_that_holds_something_else_takes_no_images(
    image_run: Callable[..., ImageRun], tmp_path: Path
) -> None:
    (tmp_path / "kept/run").mkdir(parents=True)  # a recording of the user, perhaps
    (tmp_path / "kept").chmod(0o700)
    with pytest.raises(UsageError, match="holds run, which skelgen did not make"):
        image_run(Imagined(), wanted(1, 100), kept=tmp_path / "kept")


def test_a_folder_of_others_takes_no_images(
    image_run: Callable[..., ImageRun], tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(MachineError, match="can be written or read by others"):
        image_run(Imagined(), wanted(1, 100), kept=tmp_path)


def test_a_rank_that_dies_before_its_image_is_named(
    image_run: Callable[..., ImageRun],
) -> None:
    run = image_run(Imagined(dies=True), wanted(1, 100))
    with pytest.raises(
        ApplicationError,
        match=r"true ended with exit code 9 before its image was made \(rank 1\): "
        "rank 1 ran out of luck",
    ):
        run.request(wanted(1, 100))
    run.stop()


class Shorter(Imagined):
    """An application that ends of its own before it comes to a place."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place

    def go_on(self) -> None:
        for marks in self.folder.glob("rank-*.marks"):
            if marks.read_text().endswith(f"{self.place}\n"):
                marks.with_suffix(".times").write_text("finalized 90\n")
                self.dies = True
            elif not self.dies:
                super().go_on()

    def poll(self) -> int | None:
        super().poll()
        return 0 if self.dies else None


@pytest.mark.parametrize("place", [HOLD, STOP])
def test_an_application_that_does_less_work_is_told_so(
    image_run: Callable[..., ImageRun], place: str
) -> None:
    one = wanted(1, 100)
    run = image_run(Shorter(place), one)
    short = (
        "ended after 90 calls of rank 0; .* phase 1 was over after 120: .* less work"
    )
    with pytest.raises(ApplicationError, match=short):
        run.request(one)
        assert place == STOP
        run.restore(one)
    run.stop()


def test_times_of_another_phase_are_refused(image_run: Callable[..., ImageRun]) -> None:
    other = replace(wanted(1, 100), calls=("MPI_Bcast",))
    run = image_run(Imagined(), other)
    run.request(other)
    with pytest.raises(ApplicationError, match="rank 0 called MPI_Send where phase 1"):
        run.restore(other)
    run.stop()


class OtherRanks(Imagined):
    """An application that was launched with three ranks."""

    def go_on(self) -> None:
        for marks in self.folder.glob("rank-*.marks"):
            marks.with_suffix(".times").write_text("no-marks 3\n")


def test_another_number_of_ranks_is_named_at_once(
    image_run: Callable[..., ImageRun],
) -> None:
    run = image_run(OtherRanks(), wanted(1, 100))
    with pytest.raises(ApplicationError, match=r"3 ranks were launched, .* is of 2"):
        run.request(wanted(1, 100))
    run.stop()
