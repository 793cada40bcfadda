"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from cbpe.common.atomic_files import check_writable, write_files


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


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk here that is always full")
def test_a_full_disk_is_told_with_the_file(tmp_path):
    os.symlink("/dev/full", tmp_path / f"new.{os.getpid()}.part")
    with pytest.raises(OSError, match="No space left") as caught:
        write_files({str(tmp_path / "new"): [b"1"]})
    assert caught.value.filename == str(tmp_path / "new")
    assert os.listdir(tmp_path) == []


def test_a_directory_is_not_replaced(tmp_path):
    with pytest.raises(IsADirectoryError, match="it is a directory"):
        write_files({str(tmp_path): [b""]})
    with pytest.raises(FileNotFoundError) as caught:
        write_files({str(tmp_path / "missing" / "file"): [b""]})
    assert caught.value.filename == str(tmp_path / "missing" / "file")


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
