"""Files are written whole or not at all."""

import errno
import os
import re
import tempfile
from pathlib import Path

import pytest

from cbpe.common.atomic_files import check_writable, refuse_elsewhere, write_files, write_whole


def test_files_are_written_and_replaced(tmp_path):
    paths = [str(tmp_path / name) for name in "ab"]
    write_files({paths[0]: [b"1", b"2"], paths[1]: []})
    write_files({paths[1]: iter([b"3"])})
    assert [Path(path).read_bytes() for path in paths] == [b"12", b"3"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_where_one_fails_all_stay_as_they_were(tmp_path):
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    write_files({first: [b"old"]})

    def parts():
        yield b"new"
        raise RuntimeError("the source of it fails")

    with pytest.raises(RuntimeError, match="fails"):
        write_files({first: [b"new"], second: parts()})
    assert Path(first).read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["first"]


def test_a_full_disk_is_told_with_the_file(tmp_path, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_files({str(tmp_path / "new"): [b"1"]})
    assert caught.value.filename == str(tmp_path / "new")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are others on Windows")
def test_a_file_that_is_replaced_keeps_its_permissions_and_is_never_open_to_more(tmp_path):
    path = tmp_path / "file"
    seen = []

    def parts():
        (aside,) = set(tmp_path.iterdir()) - {path}
        seen.append(aside.stat().st_mode & 0o777)
        yield b"1"

    for mode in (0o600, 0o640):
        path.touch()
        path.chmod(mode)
        write_files({str(path): parts()})
        assert path.stat().st_mode & 0o777 == seen.pop() == mode
        path.unlink()


@pytest.mark.skipif(os.name != "posix", reason="permissions are others on Windows")
def test_a_file_that_is_read_only_is_not_replaced(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0")
    path.chmod(0o444)
    for write in (lambda: write_files({str(path): [b"1"]}), lambda: check_writable(path)):
        with pytest.raises(PermissionError, match="the file is read-only: allow writing to it, or remove it, first"):
            write()
    assert path.read_bytes() == b"0"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="links take rights on Windows")
def test_a_link_that_somebody_has_put_beside_a_file_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "urandom", bytes)
    (tmp_path / f"new.{os.getpid()}.00000000.part").symlink_to(tmp_path / "theirs")
    with pytest.raises(FileExistsError):
        write_files({str(tmp_path / "new"): [b"1"]})
    assert not (tmp_path / "theirs").exists()


def test_a_directory_is_not_replaced_and_one_that_is_missing_is_named(tmp_path):
    with pytest.raises(IsADirectoryError, match="it is a directory"):
        write_files({str(tmp_path): [b""]})
    with pytest.raises(FileNotFoundError) as caught:
        write_files({str(tmp_path / "missing" / "file"): [b""]})
    assert caught.value.filename == str(tmp_path / "missing")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_or_a_device_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, tmp_path / "link"):
        with pytest.raises(OSError, match="it is a pipe or a device"):
            write_files({str(path): [b"1"]})
    assert pipe.is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


@pytest.mark.skipif(os.name != "posix", reason="links take rights on Windows")
def test_a_link_stays_one_and_its_target_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    for name in ("there", "new"):
        (tmp_path / name).symlink_to(tmp_path / "folder" / name)
    (tmp_path / "folder" / "there").write_bytes(b"old")
    write_files({str(tmp_path / "there"): [b"1"], str(tmp_path / "new"): [b"2"]})
    assert [(tmp_path / "folder" / name).read_bytes() for name in ("there", "new")] == [b"1", b"2"]
    assert (tmp_path / "there").is_symlink()
    assert (tmp_path / "new").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["folder", "new", "there"]


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path, monkeypatch):
    check_writable(tmp_path / "new")
    assert os.listdir(tmp_path) == []
    monkeypatch.chdir(tmp_path)
    check_writable("new")
    missing = tmp_path / "missing"
    with pytest.raises(FileNotFoundError) as caught:
        check_writable(missing / "new")
    assert caught.value.filename == str(missing)


def test_a_file_is_named_that_cannot_be_made(tmp_path, monkeypatch):
    def refuse(**options):
        raise PermissionError(errno.EACCES, "Permission denied", options["dir"])

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(PermissionError, match="no file can be made in its folder: Permission denied: 'new'"):
        check_writable("new")


def test_a_path_from_the_home_folder_that_no_shell_has_replaced_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    meant = os.path.join(str(tmp_path / "home"), "x")
    told = re.escape(f"would be in a folder that is called ~: write {meant!r}")
    for write in (refuse_elsewhere, check_writable, lambda path: write_whole(path, [b"x"])):
        with pytest.raises(ValueError, match=told):
            write("~/x")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "~").mkdir()
    write_whole("~/x", [b"there is such a folder"])
    write_whole("~x", [b"a file of that name"])
    assert (tmp_path / "~" / "x").read_bytes() == b"there is such a folder"
