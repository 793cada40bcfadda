"""Files that are written aside, flushed to the disk, and put in place under their names when they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from cbpe.common.atomic_files import refuse_elsewhere
from cbpe.common.checks import refuse_no_path

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Buffer, Self

__all__ = ["COPIED_AT_ONCE", "Output", "Outputs", "missing_in", "output_path", "sha256_of", "sizes_in"]

COPIED_AT_ONCE = 1 << 20


def output_path(output: str | os.PathLike[str], kind: str) -> Path:
    """The path of what a run makes, a folder or a file. TypeError for what is no name, ValueError for an empty one, and
    for a URL."""
    refuse_no_path("output", output, f"a {kind}")
    text = os.fsdecode(output)
    if not text:
        raise ValueError(f"'' names no {kind}: name one to write to")
    refuse_elsewhere(text)
    return Path(text)


class Output:
    """A file that is being written, and the SHA-256 of what it holds so far."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.size = 0
        self._digest = sha256()
        self._file = open(path, "xb", buffering=0)  # noqa: SIM115  Outputs closes it

    def write(self, data: Buffer | npt.NDArray[Any]) -> int:
        """Write all of it. OSError names the file, as on a disk that is full."""
        view: memoryview = memoryview(data).cast("B")  # type: ignore[arg-type]
        self._digest.update(view)
        written = 0
        try:
            while written < len(view):
                written += self._file.write(view[written:]) or 0
        except OSError as error:
            error.filename = str(self.path)
            raise
        self.size += len(view)
        return len(view)

    def flush(self) -> None:
        """Nothing is held back: writers of other libraries ask for it."""

    def close(self) -> None:
        if not self._file.closed:
            try:
                os.fsync(self._file.fileno())  # or a crash could leave the name without the content
            except OSError as error:
                error.filename = str(self.path)
                raise
            finally:
                self._file.close()

    @property
    def closed(self) -> bool:
        return self._file.closed

    def tell(self) -> int:
        return self.size

    @property
    def digest(self) -> bytes:
        """The SHA-256 of what was written so far."""
        return self._digest.digest()

    def abandon(self) -> None:
        self._file.close()
        self.path.unlink(missing_ok=True)

    def described(self) -> dict[str, Any]:
        """The file, as a manifest has it."""
        return {"name": self.name, "bytes": self.size, "sha256": self._digest.hexdigest()}


class Outputs:
    """The files that one task leaves, or none of them: a context in which they are written aside, in `aside`, and at
    whose end they are put in their places in `folder`. Whatever is raised in it, nothing is left."""

    def __init__(self, folder: Path, aside: Path) -> None:
        self.folder = folder
        self.aside = aside
        self.files: list[Output] = []
        self._scratch: list[Path] = []
        self._opened: list[BinaryIO] = []

    def open(self, name: str) -> Output:
        """A new file, which gets this name in the end."""
        output = Output(name, self._path_aside(name))
        self.files.append(output)
        return output

    def scratch(self, name: str) -> Path:
        """The path of a file that nobody needs after the end."""
        path = self._path_aside(name)
        self._scratch.append(path)
        return path

    def scratch_file(self, name: str) -> BinaryIO:
        """A file to write and to read, which nobody needs after the end."""
        opened = open(self.scratch(name), "x+b")  # noqa: SIM115  closed at the end
        self._opened.append(opened)
        return opened

    def described(self) -> list[dict[str, Any]]:
        return [output.described() for output in self.files]

    def _path_aside(self, name: str) -> Path:
        self.aside.mkdir(parents=True, exist_ok=True)
        return self.aside / f"{name}.{os.getpid()}.{os.urandom(4).hex()}.part"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        try:
            if kind is None:
                for output in self.files:
                    output.close()
                self.folder.mkdir(parents=True, exist_ok=True)
                for output in self.files:
                    os.replace(output.path, self.folder / output.name)
                flush_folder(self.folder)
        finally:
            for output in self.files:
                output.abandon()
            for opened in self._opened:
                with suppress(OSError):  # of a full disk, on which nobody needs the rest of it
                    opened.close()
            for path in self._scratch:
                path.unlink(missing_ok=True)


def sizes_in(folder: Path) -> dict[str, int]:
    """The sizes of the files in a folder, by their names; of none where there is no folder."""
    sizes = {}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # it was removed, or put in its place, meanwhile
                if entry.is_file():
                    sizes[entry.name] = entry.stat().st_size
    return sizes


def missing_in(folder: Path, sizes: Mapping[str, int], files: Iterable[Mapping[str, Any]]) -> str | None:
    """Which of these files, as a manifest has them, is missing among those of the folder, or has another size there."""
    for file in files:
        size = sizes.get(file["name"])
        if size is None:
            return f"{folder / file['name']} is missing, and the manifest has it"
        if size != file["bytes"]:
            return f"{folder / file['name']} has {size:,} bytes, and {file['bytes']:,} by the manifest"
    return None


def flush_folder(folder: Path) -> None:
    """Have the names in a folder outlast a crash, where the system can."""
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folder
        return
    try:
        os.fsync(opened)
    except OSError:  # nor do all file systems flush one
        pass
    finally:
        os.close(opened)


def sha256_of(path: Path) -> str:
    digest = sha256()
    with open(path, "rb") as file:
        while chunk := file.read(COPIED_AT_ONCE):
            digest.update(chunk)
    return digest.hexdigest()
