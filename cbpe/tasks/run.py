"""A run: tasks that leave their outputs in one folder, or make one file, and what is known of those that are done.

FOLDER/                     what the run makes, under final names
FOLDER/.run/run.json        what is to be done: options, sources and tasks. A run is gone on with if they are the same
FOLDER/.run/records/N.json  what task N found and left, written when its outputs are in their places
FOLDER/.run/aside/          files that are being written
FOLDER/.run/lock            locked while a program works on the run: by one alone, or by all that do shares of it
FOLDER/.run/...             what the tasks leave for the end of the run
FOLDER/manifest.json        all that is known, when the run is finished; then .run/ is gone

Of a run that makes one file, FILE.run/ is what .run/ is here, and FILE.json the manifest.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from cbpe.common.atomic_files import is_beside, write_whole
from cbpe.common.warning import warn
from cbpe.common.wording import json_problem
from cbpe.tasks.cutting import Task
from cbpe.tasks.locking import locked, unlock
from cbpe.tasks.other_runs import in_the_way
from cbpe.tasks.outputs import Outputs, missing_in, sha256_of, sizes_in
from cbpe.tasks.progress import ProgressListener, Tally

__all__ = ["MANIFEST", "FileRun", "Run", "as_json", "begin_share", "left_of"]

MANIFEST = "manifest.json"
STATE = ".run"
LOCK = "lock"

Name = TypeVar("Name", int, str)  # of a task


class Run:
    """The folder of a run, and what was done in it before.

    plan: what the results depend on, as JSON can hold it, tasks and sources aside. leaves: the folders, by their names,
    in which tasks leave something for the end of the run. verify: whether what tasks have left is read back before the
    run goes on with it. It can be pickled and sent to where tasks are done, if the folder is there under the same name.
    """

    kind = "folder"  # what the user named

    def __init__(
        self,
        folder: Path,
        plan: Mapping[str, Any],
        tasks: Sequence[Task],
        *,
        leaves: Collection[str] = (),
        verify: bool = False,
    ) -> None:
        self.leaves = leaves
        self.verify = verify
        self.name = self.folder = folder
        self.state = folder / STATE
        self.manifest = folder / MANIFEST
        self.identity = {**plan, **identity_of(tasks)}
        self._begun = False
        self._given_up = False
        self._locks = False  # whether this program works on it, and lets no other one do so
        self._lock: int | None = None  # a descriptor

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_locks": False, "_lock": None}

    def begin(self, *, resume: bool, shared: bool = False) -> dict[str, Any] | None:
        """Take the folder or file for this run. Returns the manifest, if the run is finished already.

        resume: go on with a run that is there. shared: others work on the run at the same time. Raises ValueError for a
        folder that holds something else, for one that holds a run unless it is to be gone on with, and for one on which
        another program works that does not share it.
        """
        finished, _ = self._found(resume, shared)
        if finished is None:
            self._take(shared=shared)
            finished, changed = self._found(resume, shared)  # nobody changes it from here on
        if finished is not None:
            shutil.rmtree(self.state, ignore_errors=True)  # of a run that was killed after its manifest was written
            return finished
        if changed:
            self.amend()
        begun = self.begun()
        if not shared:
            # What lies there without a word of whose it is belongs to another run.
            self._clear(everything=begun is None)
        self.state.mkdir(parents=True, exist_ok=True)
        if begun is None:
            write_whole(self.state / "run.json", [as_json(self.identity)])
        self._begun = True
        return None

    def _found(self, resume: bool, shared: bool) -> tuple[dict[str, Any] | None, bool]:
        """The manifest of a run that is finished, and whether what is there was to be another run, which may become
        this one. Raises as begin does, and changes nothing."""
        begun = self.begun()
        finished = self._read(self.manifest)
        said = begun if begun is not None else (finished or {}).get("run")
        if begun is None:
            self._refuse_foreign_state()
        if said is None:
            self._refuse_occupied()
            if finished is not None:
                raise ValueError(f"{self.manifest} is there already, and of no run: name another {self.kind}")
            return None, False
        changed = self._refuse_other(said, finished is not None, shared)
        if not (resume or (shared and finished is None)):
            raise self.held()
        return finished, changed

    def _clear(self, *, everything: bool) -> None:
        """Remove what tasks were writing, or everything that is known of a run but the lock."""
        for name in os.listdir(self.state) if everything and self.state.is_dir() else ["aside"]:
            path = self.state / name
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif name != LOCK:
                path.unlink(missing_ok=True)

    def hold(self, *, shared: bool) -> None:
        """Lock a run that is there, before it is changed, as begin does with every run. ValueError as there."""
        if (self.state / "run.json").exists():
            self._take(shared=shared)

    def begun(self) -> dict[str, Any] | None:
        """What is to be done by the run that is there, if it is not finished. NotADirectoryError where a file is in its
        place."""
        refuse_file(self.folder)
        return self._read(self.state / "run.json")

    def begun_otherwise(self, name: str) -> Any:
        """What the run that is there, and is not finished, has under this name, if that is all in which it is not this
        run; else None."""
        begun = self.begun()
        mine = json.loads(as_json(self.identity))
        if begun is None or begun.get(name) == mine[name] or {**begun, name: mine[name]} != mine:
            return None
        return begun[name]

    def held(self) -> ValueError:
        """The error for a run that is there, and was not to be gone on with."""
        return ValueError(f"{self.name} holds this run already: resume it, or name another {self.kind}")

    def amend(self) -> None:
        """Have the run that is there be this one from now on: all that its tasks have left is right for it."""
        write_whole(self.state / "run.json", [as_json(self.identity)])

    @contextmanager
    def forgotten_if_fruitless(self, *, alone: bool) -> Iterator[None]:
        """A context that forgets the run which began in it, if it fails before a task is done, or was given up: then it
        stands in nobody's way who corrects the options or the sources. alone: nobody else does tasks of this run. Until
        its end the run is locked."""
        new = not self.folder.exists()
        self._locks = True
        try:
            yield
        except BaseException:
            fruitless = self._given_up or (alone and not self._n_done())
            if fruitless and self._begun and not self._is_occupied():
                shutil.rmtree(self.state, ignore_errors=True)
                if new:
                    with suppress(OSError):
                        self.folder.rmdir()
            raise
        finally:
            self._locks = False
            self._let_go()

    def _take(self, *, shared: bool) -> None:
        """Lock the run until the context `forgotten_if_fruitless` ends."""
        if not self._locks or self._lock is not None:
            return
        try:
            self._lock = locked(self.state / LOCK, shared=shared)
        except BlockingIOError as error:
            problem = f"another program works on {self.name} now"
            way = "to work on it together, give each a share (task)" if not shared else "shares can begin after it"
            raise ValueError(f"{problem}: wait for it, or name another {self.kind}; {way}") from error

    def _let_go(self) -> None:
        if self._lock is None:
            return
        if not self._begun:  # there may be nothing else: then nothing stays
            with suppress(OSError):
                if os.listdir(self.state) == [LOCK]:
                    (self.state / LOCK).unlink()
                    self.state.rmdir()
        unlock(self._lock)
        self._lock = None

    def give_up(self) -> None:
        """Say that to go on with the run would come to nothing, before the error that tells why."""
        self._given_up = True

    def outputs(self, folder: str = "") -> Outputs:
        """Files that a task leaves: in the folder of the run, or in one of its state ("parts")."""
        return Outputs(self.state / folder if folder else self.folder, self.state / "aside")

    def done(self, name: int | str) -> dict[str, Any] | None:
        """The record of a task, if it is done."""
        return self._read(self._record(name))

    def done_task(self, task: Task) -> dict[str, Any] | None:
        """The record of this task, if it is done. ValueError where it tells of other files: somebody who did not know
        that a source had changed has done it since."""
        record = self.done(task.number)
        if record is not None and {**record, **task.described()} != record:
            raise ValueError(
                f"{self._record(task.number)} tells of other sources, or of what they were before they changed: delete "
                "it, and resume, so that this task is done anew"
            )
        return record

    def keep(self, name: int | str, record: Mapping[str, Any]) -> None:
        """Say that a task is done: after its outputs are in their places."""
        self._record(name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._record(name), [as_json(record)])

    def waiting(self, records: Mapping[Name, Mapping[str, Any] | None], folder: str) -> set[Name]:
        """Which of these tasks are to be done: those without a record, and those of whose files, in the folder of the
        run or in one of its state, one is gone or has another size, or, where it is read back, another SHA-256. Their
        records are deleted: done anew, they leave the same files."""
        outputs = self.outputs(folder).folder
        sizes = sizes_in(outputs) if any(records.values()) else {}
        waiting = set()
        for name, record in records.items():
            if record is not None and missing_in(outputs, sizes, record["files"]) is None:
                if not self.verify or all(
                    sha256_of(outputs / each["name"]) == each["sha256"] for each in record["files"]
                ):
                    continue
                warn(f"what task {name} had left in {outputs} was damaged: the task is done anew")
            if record is not None:
                self._record(name).unlink(missing_ok=True)
            waiting.add(name)
        return waiting

    def finish(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Write the manifest, and forget all else. Returns it."""
        whole = {**manifest, "run": self.identity}
        aside = self.state / MANIFEST  # so that a kill leaves nothing half written beside the outputs
        write_whole(aside, [as_json(whole)])
        os.replace(aside, self.manifest)
        shutil.rmtree(self.state, ignore_errors=True)
        return whole

    def records_of_tasks(self, tasks: Sequence[Task], *, done_only: bool = False) -> list[dict[str, Any]]:
        """What the records of these tasks say for the manifest, each with its number. RuntimeError where one is
        missing, unless done_only."""
        if not done_only:
            self.records_of(task.number for task in tasks)
        records = [{"task": task.number, **record} for task in tasks if (record := self.done_task(task))]
        for record in records:
            del record["versions"]
        return records

    def records_of(self, names: Iterable[int | str]) -> list[dict[str, Any]]:
        """The records of tasks that an executor has had done. RuntimeError where one is missing."""
        found = [self.done(name) for name in names]
        records = [record for record in found if record is not None]
        if len(records) < len(found):
            raise RuntimeError(
                f"{len(found) - len(records):,} of {len(found):,} tasks have left nothing in {self.state}: it must be "
                "the same folder on every machine"
            )
        return records

    def _refuse_occupied(self) -> None:
        """ValueError where there is something else than a run."""
        if self._is_occupied():
            raise ValueError(f"{self.folder} is not empty, and holds no run: name a new folder")

    def _refuse_foreign_state(self) -> None:
        """ValueError where something in the place of the run's state is of no run, and would be deleted with it."""
        if not self.state.is_dir():
            return
        own = {"run.json", "records", "aside", LOCK, MANIFEST, *self.leaves}
        others = [name for name in os.listdir(self.state) if name not in own and not is_beside(name)]
        if others:
            raise ValueError(
                f"{self.state} holds {min(others)}, which is of no run, and would be deleted: move it elsewhere, or "
                f"name another {self.kind}"
            )

    def _is_occupied(self) -> bool:
        return self.folder.exists() and any(path.name != STATE for path in self.folder.iterdir())

    def _n_done(self) -> int:
        """How many tasks are done, of whichever step."""
        return len(list((self.state / "records").glob("*.json")))

    def _remedy(self, finished: bool) -> str:
        """What to do with a name that another run has."""
        done = "is finished" if finished else f"has done {len(self._done()):,} of its tasks"
        return f"that run {done}. Name another {self.kind}, or remove {self._whole(finished)} to begin anew"

    def _whole(self, finished: bool) -> str:
        """All that there is of the run."""
        return str(self.folder)

    def _record(self, name: int | str) -> Path:
        return self.state / "records" / f"{name}.json"

    def _read(self, path: Path) -> dict[str, Any] | None:
        """The object in a JSON file; None where there is no file. ValueError for another file."""
        try:
            found = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except RecursionError as error:
            raise ValueError(f"{path} is no manifest and no record of a run: name another {self.kind}") from error
        except ValueError as error:
            problem = json_problem(error)
            whole = self._whole(path == self.manifest)
            of_a_task = path.parent == self.state / "records"
            anew = f"if all of {whole} is of that run, remove it to begin anew"
            remedy = "delete it, and resume" if of_a_task else anew
            raise ValueError(f"{path} is damaged ({problem}): {remedy}, or name another {self.kind}") from error
        if not isinstance(found, dict):
            raise ValueError(f"{path} is no manifest and no record of a run: name another {self.kind}")
        return found

    def _refuse_other(self, said: Mapping[str, Any], finished: bool, shared: bool) -> bool:
        """Whether this is another run than was said, which may go on with what that one has done: not while others
        work on that one. ValueError where it may not, which names the first thing that differs."""
        mine = json.loads(as_json(self.identity))
        path = self.manifest if finished else self.state / "run.json"
        damaged = ValueError(
            f"{path} is damaged: it does not say which run this is. If all of {self._whole(finished)} is of one, "
            f"remove it to begin anew, or name another {self.kind}"
        )
        several = [name for name in mine if isinstance(mine[name], (dict, list))]
        if not isinstance(said, dict) or not all(isinstance(said.get(name), type(mine[name])) for name in several):
            raise damaged
        try:
            problem = in_the_way(self.name, said, mine, None if finished or shared else self._done())
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise damaged from error
        if problem is not None:
            raise ValueError(f"{problem}; {self._remedy(finished)}")
        return bool(said != mine)

    def _done(self) -> list[int]:
        """The numbers of the tasks that are done."""
        return sorted(int(path.stem) for path in (self.state / "records").glob("[0-9]*.json"))


class FileRun(Run):
    """A run that makes one file."""

    kind = "file"

    def __init__(
        self,
        file: Path,
        plan: Mapping[str, Any],
        tasks: Sequence[Task],
        *,
        leaves: Collection[str] = (),
        verify: bool = False,
    ) -> None:
        super().__init__(file.parent, plan, tasks, leaves=leaves, verify=verify)
        self.name = file
        self.state = file.with_name(file.name + ".run")
        self.manifest = file.with_name(file.name + ".json")

    def _whole(self, finished: bool) -> str:
        return f"{self.name} and {self.manifest}" if finished else str(self.state)

    def _is_occupied(self) -> bool:
        return self.name.exists()

    def _refuse_occupied(self) -> None:
        if self._is_occupied():
            raise ValueError(f"{self.name} is there already, and of no run: name a new file")


def left_of(output: Path, kind: str) -> tuple[Path, int] | None:
    """What is left of a run that was stopped: where, and how many of its tasks are done; None of one that is finished.
    output: the folder or the file of the run, as `kind` says."""
    state, manifest = output / STATE, output / MANIFEST
    if kind == FileRun.kind:
        state, manifest = output.with_name(output.name + STATE), output.with_name(f"{output.name}.json")
    if manifest.is_file():
        return None
    return state, len(list((state / "records").glob("[0-9]*.json")))


def refuse_file(folder: Path) -> None:
    """NotADirectoryError where a file stands in the place of a folder, or of one that it is in."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    if there.exists() and not there.is_dir():
        raise NotADirectoryError(f"{there} is a file, and what is made goes to a folder: name another")


def identity_of(tasks: Sequence[Task]) -> dict[str, Any]:
    """The sources and how they are cut."""
    files = {span.source.path: span.source for task in tasks for span in task.spans}
    places = {path: number for number, path in enumerate(files)}
    cuts = [
        [[places[span.source.path], *(span.part or ())] for span in task.spans] for task in tasks
    ]  # of each task, its spans: the number of the file, and the part
    return {"sources": [[file.path, file.size, file.version] for file in files.values()], "tasks": cuts}


def as_json(value: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8; a byte of a file's name that is no UTF-8 is escaped, as JSON has it ("\\udcff")."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def begin_share(
    run: Run,
    tasks: Sequence[Task],
    share: tuple[int, int] | None,
    listener: ProgressListener | None,
    stage: str,
    folder: str,
) -> tuple[list[Task], Tally]:
    """The tasks, or those of this share, that are to be done, and what adds up how far all of them are. folder: where
    they leave their files, as Run.outputs has it. A UserWarning for a share that has none."""
    mine = tasks if share is None else tasks[share[0] - 1 :: share[1]]
    if share is not None and not mine:
        are = "is 1 task" if len(tasks) == 1 else f"are {len(tasks):,} tasks"
        warn(f"there {are}, of which share {share[0]:,} of {share[1]:,} has none: a smaller task_bytes may make more")
    tally = Tally(listener, sum(task.size for task in mine), len(mine), stage)
    records = {task.number: run.done_task(task) for task in mine}
    numbers = run.waiting(records, folder)
    for task in mine:
        record = records[task.number]
        if record is not None and task.number not in numbers:
            tally.add_done(record["documents"], record.get("tokens", 0), task.size)
    return [task for task in mine if task.number in numbers], tally
