"""The databases that the store is tested on, first of SQLite, then of PostgreSQL.

`store_url` names a database that is empty, or not made yet; `empty_store_url` one with an empty store; `models` is an
empty store that is open. Running all migrations for each test would take longer than most tests do, so ModelStore makes
one store for each backend, and a test gets a copy of the file, or the same database after the rows of the test before
were removed. `shared_store` is one such store for all tests of a module, which fills it and then only reads.

The PostgreSQL server is the tests' own. It is started where its programs are found (initdb and postgres, as Debian's
package postgresql brings them), listens on 127.0.0.1 alone with a password made for this run, and ends with the run.
Where there is none, the tests that want it skip and say why, unless CBPE_TEST_POSTGRESQL=required is set.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from store.database.schema import meta, metadata
from store.database.sqlite import connections

if TYPE_CHECKING:
    import psycopg

    from store import ModelStore

REQUIRED = os.environ.get("CBPE_TEST_POSTGRESQL") == "required"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": 100,
    "shared_buffers": "32MB",
    # Nothing outlives the run, so that nothing needs to reach the disk.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # A table that is there for one test needs no care, and no question of a test is worth to be compiled.
    "autovacuum": "off",
    "jit": "off",
}
END_OTHERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
# All tables but the one that says of which revision the schema is.
TABLES = [name for name in metadata.tables if name != meta.name]
FOREIGN_KEYS_REST = "SET session_replication_role = replica"  # so that the order of the tables does not matter
FIRST_IDS = "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace"
EMPTY_FILES = f"TRUNCATE {', '.join(TABLES)} RESTART IDENTITY"
FEW_ROWS = 1000


class NoServerError(Exception):
    """Why there is no PostgreSQL server to test on."""


class Server:
    """A running PostgreSQL server of our own in a temporary folder, with some settings other than the usual ones."""

    def __init__(self, **settings: str) -> None:
        self._programs = find_programs()
        self._settings = {**SETTINGS, **settings}
        self._folder = Path(tempfile.mkdtemp(prefix="cbpe_postgresql_"))
        try:
            self._password = secrets.token_hex(16)
            self._owner = unprivileged_owner(self._folder)
            self._initialize()
            self.start()
        except BaseException:
            self._remove_folder()
            raise
        self._n_databases = 0
        self._cleaning: dict[str, psycopg.Connection] = {}  # a connection to each database: a new one takes long
        self._free: list[str] = []  # databases that are empty again
        self._free_stores: list[str] = []  # databases with a store that is empty again
        self._n_left: Counter[str] = Counter()  # deleted rows that are in the files of such a store

    def _initialize(self) -> None:
        password = self._folder / "password"
        password.write_text(self._password)
        password.chmod(0o644)  # in a folder that is closed to others
        # SCRAM takes milliseconds for each connection, so that nobody guesses a password; this one is of 128 bits.
        arguments = ["--username=tester", "--auth=md5", f"--pwfile={password}", "--encoding=UTF8", "--locale=C.UTF-8"]
        # The log is in files of 1 MB, so that a limit on the size of files may leave it room, and data none.
        arguments += ["--wal-segsize=1", "--no-sync", "--pgdata", str(self._folder / "data")]
        subprocess.run(
            [self._programs / "initdb", *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self._folder,
            **self._owner,
        )

    def start(self, largest_file: int | None = None) -> None:
        """Start it, also after end() and kill(). No file of its may grow beyond a size in bytes that is given."""
        self._kill_left_over()
        for _ in range(5):  # another program may take the port before the server does
            with socket.create_server(("127.0.0.1", 0)) as free:
                self._port = free.getsockname()[1]
            settings = [f"--{name}={value}" for name, value in {**self._settings, "port": self._port}.items()]
            log = (self._folder / "log").open("ab")
            with log:
                self._process = subprocess.Popen(
                    [self._programs / "postgres", "-D", self._folder / "data", *settings],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self._folder,
                    start_new_session=True,  # Ctrl-C is for the tests, which then stop the server
                    preexec_fn=None if largest_file is None else partial(limit_files, largest_file),
                    **self._owner,
                )
            if self.answers():
                return
        raise NoServerError("PostgreSQL did not start: " + (self._folder / "log").read_text()[-2000:])

    def answers(self) -> bool:
        """Wait until the server answers, or has ended."""
        import psycopg

        for _ in range(1200):
            if self._process.poll() is not None:
                return False
            with contextlib.suppress(psycopg.OperationalError), self.connection():
                return True
            time.sleep(0.05)
        self.end()
        return False

    def connection(self, database: str = "postgres") -> psycopg.Connection:
        import psycopg

        where = {"host": "127.0.0.1", "port": self._port, "dbname": database}
        return psycopg.connect(**where, user="tester", password=self._password, autocommit=True)

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """The URL of an empty database, which is emptied at the end, whoever is still connected."""
        name = self._free.pop() if self._free else self.new_database()
        try:
            yield self.url(name)
        finally:
            connection = self._cleaner(name)
            # Much faster than to drop the database and to create one.
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
            self._free.append(name)

    @contextlib.contextmanager
    def store(self) -> Iterator[str]:
        """The URL of a database with an empty store. Its rows are removed at the end; its schema has to stay."""
        if self._free_stores:
            name = self._free_stores.pop()
        else:
            name = self.new_database()
            make_store(self.url(name))
        try:
            yield self.url(name)
        finally:
            self._remove_rows(name, self._cleaner(name))
            self._free_stores.append(name)

    def _cleaner(self, name: str) -> psycopg.Connection:
        """The connection that cleans a database up, and is now the only one."""
        import psycopg

        if name in self._cleaning:
            with contextlib.suppress(psycopg.OperationalError):  # a test may have ended all connections
                self._cleaning[name].execute(END_OTHERS)
                return self._cleaning[name]
        self._cleaning[name] = self.connection(name)
        self._cleaning[name].execute(END_OTHERS)
        return self._cleaning[name]

    def _remove_rows(self, name: str, connection: psycopg.Connection) -> None:
        """Truncating takes ten times as long as to delete what a test has saved, whose rows stay in the files."""
        connection.execute(FOREIGN_KEYS_REST)
        self._n_left[name] += sum(connection.execute(f"DELETE FROM {table}").rowcount for table in TABLES)
        connection.execute(FIRST_IDS)
        if self._n_left[name] > FEW_ROWS:
            connection.execute(EMPTY_FILES)
            self._n_left[name] = 0

    def url(self, name: str) -> str:
        return f"postgresql+psycopg://tester:{self._password}@127.0.0.1:{self._port}/{name}"

    def new_database(self) -> str:
        """The name of an empty database."""
        self._n_databases += 1
        name = f"store_{self._n_databases}"
        with self.connection() as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        return name

    def stop(self) -> None:
        """End the server and remove all that it kept."""
        for connection in self._cleaning.values():
            connection.close()
        self.end()
        self._remove_folder()

    def end(self) -> None:
        """End the server as its owner does, if it runs."""
        self._process.send_signal(signal.SIGINT)  # a "fast" end, connections or not
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGQUIT)  # "immediate", to its children too
            self._process.wait(timeout=30)

    def kill(self) -> None:
        """End all of the server's processes at once, as a lack of memory may, wherever they are in their work."""
        if self._process.poll() is None:
            kill_with_children(self._process.pid)
            self._process.wait()

    def _kill_left_over(self) -> None:
        """End the server that a process started which is gone."""
        with contextlib.suppress(OSError):
            number = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
            if os.fsencode(self._folder) in Path(f"/proc/{number}/cmdline").read_bytes():
                kill_with_children(number)

    def _remove_folder(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def kill_with_children(number: int) -> None:
    """Kill a process and those that it has started, and wait until they are gone."""
    with contextlib.suppress(OSError):
        os.kill(number, signal.SIGSTOP)  # it starts no more of them
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        processes = [number, *map(int, children)]
        for one in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        while any(is_running(one) for one in processes):  # the next server would take it for another one's
            time.sleep(0.005)


def limit_files(largest: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def is_running(number: int) -> bool:
    """Whether a process runs: what has ended may wait for its parent to ask how."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def find_programs() -> Path:
    """The folder of initdb and postgres."""
    if importlib.util.find_spec("psycopg") is None:
        raise NoServerError("psycopg, which talks to PostgreSQL, is not installed: pip install 'cbpe[postgresql]'")
    folders = []
    if pg_config := shutil.which("pg_config"):
        folders.append(Path(subprocess.run([pg_config, "--bindir"], capture_output=True, text=True).stdout.strip()))
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    folders += sorted(debian, key=lambda folder: [int(n) for n in re.findall(r"\d+", str(folder))], reverse=True)
    if postgres := shutil.which("postgres"):
        folders.append(Path(postgres).resolve().parent)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise NoServerError("there is no PostgreSQL server here (on Debian: apt-get install postgresql)")


def unprivileged_owner(folder: Path) -> dict[str, Any]:
    """The arguments that subprocess takes to run as the folder's owner: the server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    users = {user.pw_name: user for user in pwd.getpwall()}
    user = users.get("postgres") or users.get("nobody")
    if user is None:
        raise NoServerError("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_the_disk() -> Iterator[Callable[..., None]]:
    """As the server's, files of SQLite need not reach the disk: a test changes much, and each commit waits for it
    longer than it works. What it yields is what users have in its place."""
    prepare = connections.prepare

    def prepare_without_waiting(connection: sqlite3.Connection, writable: bool) -> None:
        prepare(connection, writable)
        if writable:
            connection.execute("PRAGMA synchronous = OFF")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connections, "prepare", prepare_without_waiting)
        yield prepare


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    try:
        server = Server()
    except NoServerError as why:
        if REQUIRED:
            pytest.fail(f"CBPE_TEST_POSTGRESQL is set to required: {why}")
        pytest.skip(str(why))
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def postgresql_url(postgresql_server: Server) -> Iterator[str]:
    """The URL of an empty database of PostgreSQL."""
    with postgresql_server.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database that is empty, or not made yet: a test that takes it runs once for each backend."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'models.db'}"
    return request.getfixturevalue("postgresql_url")


def make_store(url_or_path: str | Path) -> None:
    from store import ModelStore

    ModelStore(url_or_path).close()


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store with nothing in it, to be copied."""
    path = tmp_path_factory.mktemp("empty_store") / "models.db"
    make_store(path)
    return path


@contextlib.contextmanager
def made_store(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """The URL of a store of the backend that a fixture runs for; nothing is in it. A file is in this folder."""
    if request.param == "sqlite":
        yield f"sqlite:///{shutil.copy(request.getfixturevalue('empty_store'), folder / 'models.db')}"
    else:
        with request.getfixturevalue("postgresql_server").store() as url:
            yield url


@pytest.fixture
def postgresql_store_url(postgresql_server: Server) -> Iterator[str]:
    """The URL of an empty store in PostgreSQL."""
    with postgresql_server.store() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty store, in each backend."""
    with made_store(request, tmp_path) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def models(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ModelStore]:
    """An empty store that is open, in each backend."""
    from store import ModelStore

    with made_store(request, tmp_path) as url, ModelStore(url) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"], scope="module")
def shared_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a store for all tests of a module. A fixture of the module fills it; the tests open it for reading
    alone."""
    with made_store(request, tmp_path_factory.mktemp("shared_store")) as url:
        yield url
