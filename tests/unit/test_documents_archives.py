"""Archives are unpacked as plain files below one folder, within bounds, or refused."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from skelgen.documents.archives import ArchiveLimits, is_archive, safe_name, unpack
from skelgen.errors import InputError, MachineError
from tests.archives import many_members, special, tar_of, zip_link, zip_of

SMALL = ArchiveLimits(members=50, rank_bytes=1 << 20, text_bytes=1 << 20)


def unpacked(tmp_path: Path, content: bytes, limits: ArchiveLimits = SMALL) -> Path:
    file, folder = tmp_path / "sent", tmp_path / "here"
    file.write_bytes(content)
    folder.mkdir()
    assert is_archive(file)
    unpack(file, folder, limits, shown="sent.tar.gz")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(
        str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()
    )


@pytest.mark.parametrize("packed", [True, False])
def test_a_tar_archive_is_unpacked(tmp_path, packed):
    long = "run/" + "a" * 150 + ".txt"
    members = {"run/0.skt": b"x" * 70_000, "run/sub/1.skt": b"", long: b"long"}
    folder = unpacked(tmp_path, tar_of(members, packed=packed))
    assert (folder / "run/0.skt").read_bytes() == b"x" * 70_000
    assert names(folder)[:1] == ["run/0.skt"]
    assert (folder / "run" / ("a" * 96 + ".txt")).read_bytes() == b"long"


def test_what_other_programs_write_is_unpacked(tmp_path):
    for number, format_ in enumerate((tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT)):
        output = io.BytesIO()
        with tarfile.open(fileobj=output, mode="w", format=format_) as archive:
            info = tarfile.TarInfo("./" + "d" * 60 + "/" + "e" * 60)
            info.size = 3
            archive.addfile(info, io.BytesIO(b"abc"))
        here = tmp_path / str(number)
        here.mkdir()
        folder = unpacked(here, output.getvalue())
        assert (folder / ("d" * 60) / ("e" * 60)).read_bytes() == b"abc"


def test_a_zip_archive_is_unpacked(tmp_path):
    folder = unpacked(tmp_path, zip_of({"run/0.skt": b"x", "run/": b"", "a.csv": b"y"}))
    assert names(folder) == ["a.csv", "run/0.skt"]


def test_names_are_made_of_safe_letters_only(tmp_path):
    members = {"run\n/a b;rm -rf.csv": b"1", "-x": b"2", "run/.hidden/x": b"3"}
    folder = unpacked(tmp_path, tar_of(members))
    assert names(folder) == ["run_/a_b_rm_-rf.csv", "x"]
    assert all(one.stat().st_mode & 0o077 == 0 for one in folder.rglob("*"))


@pytest.mark.parametrize(
    "name", ["/etc/x", "../x", "run/../../x", "a/..", "\\\\host\\x", "..\\x", "C:x",
             "C:/x", "//x"]
)  # fmt: skip
@pytest.mark.parametrize("kind", [tar_of, zip_of])
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path, name, kind):
    with pytest.raises(InputError, match=r"^sent.tar.gz: holds .* out of its folder"):
        unpacked(tmp_path, kind({"run/good": b"1", name: b"x"}))
    assert {one.name for one in tmp_path.iterdir()} == {"sent", "here"}
    assert names(tmp_path / "here") in (["run/good"], ["good"])


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE,
             tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE, b"V"]
)  # fmt: skip
@pytest.mark.parametrize("target", ["/etc/passwd", "x" * 200])
def test_links_devices_and_pipes_are_refused(tmp_path, kind, target):
    with pytest.raises(InputError, match=r"^sent.tar.gz: holds (a|something)"):
        unpacked(tmp_path, tar_of({"run/x": special(kind, target)}))
    assert names(tmp_path / "here") == []


def test_a_link_in_a_zip_archive_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds a link"):
        unpacked(tmp_path, zip_of({"x": zip_link("x")}))


@pytest.mark.parametrize("name", ["run/0.skt", "run/x.csv", ".hidden"])
@pytest.mark.parametrize("kind", [tar_of, zip_of])
def test_bombs_are_refused_before_they_fill_the_disk(tmp_path, name, kind):
    bomb = kind({name: bytes(30 << 20)})
    assert len(bomb) < 100_000
    with pytest.raises(InputError, match=r"more than 1.* when it is unpacked"):
        unpacked(tmp_path, bomb)
    written = sum(one.stat().st_size for one in (tmp_path / "here").rglob("*"))
    assert written < 2 << 20


def test_many_small_files_are_as_bad_as_a_large_one(tmp_path):
    members = {f"{number}.csv": bytes(100_000) for number in range(40)}
    with pytest.raises(InputError, match="when it is unpacked"):
        unpacked(tmp_path, tar_of(members))


def test_a_million_members_are_refused_after_a_few(tmp_path):
    with pytest.raises(InputError, match=r"twice|more than 50 files"):
        unpacked(tmp_path, many_members(1_000_000))
    folders = gzip.compress(
        tar_of({"d": special(tarfile.DIRTYPE)}, packed=False)[:512] * 1_000_000
    )
    (tmp_path / "sent").write_bytes(folders)
    with pytest.raises(InputError, match="more than 50 files"):
        unpack(tmp_path / "sent", tmp_path / "here", SMALL)
    remarks = tar_of({"x": b""}, packed=False)
    assert remarks
    many = zip_of({f"{number}": b"" for number in range(200)})
    (tmp_path / "sent").write_bytes(many)
    with pytest.raises(InputError, match="more than 50 files"):
        unpack(tmp_path / "sent", tmp_path / "here", SMALL)


def test_a_directory_that_lies_about_its_length_is_refused(tmp_path):
    content = bytearray(zip_of({"a": b"1"}))
    at = content.rfind(b"PK\x05\x06")
    content[at + 12 : at + 16] = struct.pack("<I", 100 << 20)
    with pytest.raises(InputError, match="too large"):
        unpacked(tmp_path, bytes(content))


def test_a_remark_of_any_length_is_refused_before_it_is_read(tmp_path):
    info = tarfile.TarInfo("x")
    info.pax_headers = {"comment": "x" * (1 << 20)}
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)
    with pytest.raises(InputError, match="says more than"):
        unpacked(tmp_path, gzip.compress(output.getvalue()))


@pytest.mark.parametrize("key", ["path", "size", "linkpath"])
def test_what_a_remark_says_of_a_name_or_size_is_checked_too(tmp_path, key):
    info = tarfile.TarInfo("x")
    info.pax_headers = {key: "../up" if key != "size" else "99999999999"}
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)
    with pytest.raises(InputError, match=r"out of its folder|holds a link"):
        unpacked(tmp_path, output.getvalue())


def test_every_cut_and_flip_is_refused_in_one_line_or_unpacked(tmp_path):
    whole = tar_of({"run/0.skt": b"x" * 2000, "run/a.csv": b"y"})
    other = zip_of({"run/0.skt": b"x" * 2000, "run/a.csv": b"y"})
    plain = tar_of({"run/0.skt": b"x" * 2000}, packed=False)[:4096]
    file = tmp_path / "sent"
    for content in (whole, other, plain):
        for number, at in enumerate(
            range(0, len(content), max(1, len(content) // 150))
        ):
            flipped = bytearray(content)
            flipped[at] ^= 0x41
            for damaged in (content[:at], bytes(flipped)):
                folder = tmp_path / f"{number}"
                folder.mkdir(exist_ok=True)
                file.write_bytes(damaged)
                try:
                    unpack(file, folder, SMALL)
                except InputError as error:
                    assert "\n" not in str(error)
                for one in folder.rglob("*"):
                    if one.is_file():
                        one.unlink()


def test_an_encrypted_or_oddly_packed_zip_is_refused(tmp_path):
    with pytest.raises(InputError, match="not read; pack it with deflate"):
        unpacked(tmp_path, zip_of({"a": b"1"}, compression=zipfile.ZIP_LZMA))
    content = bytearray(zip_of({"a": b"1"}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.find(mark) + place] |= 1
    (tmp_path / "sent").write_bytes(content)
    with pytest.raises(InputError, match="cut off or damaged"):
        unpack(tmp_path / "sent", tmp_path / "here", SMALL)


def test_no_archive_is_unpacked_onto_a_disk_that_is_nearly_full(tmp_path):
    full = ArchiveLimits(members=50, free_bytes=1 << 62)
    with pytest.raises(MachineError, match="nearly full"):
        unpacked(tmp_path, tar_of({"a": b"1"}), full)


@pytest.mark.parametrize("name", ["", ".", "..", "-", "/", "\0", "a" * 5000])
def test_a_safe_name_is_never_empty_hidden_or_long(name):
    found = safe_name(name)
    assert 0 < len(found) <= 100
    assert not found.startswith((".", "-"))
    assert "/" not in found
