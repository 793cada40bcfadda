"""Processes that use one store at the same time, or are killed while they do.

Run as a program, it makes them: all are forked from one that has imported everything and opened nothing. What it found
it prints as JSON. The tests call it by the functions save_together and kill_savers.
"""

import json
import os
import random
import select
import signal
import statistics
import subprocess
import sys
import time
import traceback
from pathlib import Path

SECONDS = 400  # after which something hangs


def save_together(url, n_writers, n_saves, n_names):
    """Let processes save at once. Returns what each save returned, as [name, number, digest], and how many times the
    readers looked."""
    return run("save_together", url, n_writers, n_saves, n_names)


def kill_savers(url, n_kills, seed):
    """Kill one process after the other while it saves. Returns of each kill [the saves that had returned, as number and
    digest; whether it was within a save]."""
    return run("kill_savers", url, n_kills, seed)


def save_in_children(url, n_children, n_saves):
    """Open a store, use it, and let it be used by children that were forked then. Returns what each save returned, as
    [name, number]."""
    return run("save_in_children", url, n_children, n_saves)


def close_beside_a_child(url):
    """Close a store in a process whose child, forked before, still reads it. Returns what is then in its folder."""
    return run("close_beside_a_child", url)


def fork_in_use(url):
    """Fork while a connection is in use. Returns what the child's own store raises, as [[name, message]]."""
    return run("fork_in_use", url)


def run(*arguments):
    command = [sys.executable, str(Path(__file__).resolve()), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=SECONDS, check=True)
    return json.loads(done.stdout)


# ---- In the program


def forked(work, *arguments):
    """The process id of a child that does some work, and the end of a pipe that it writes its results to."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.close(reading)
        work(writing, *arguments)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def results_of(child, reading):
    with open(reading) as pipe:
        lines = [json.loads(line) for line in pipe]
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("a process has failed; what went wrong is above")
    return lines


def report(pipe, result):
    os.write(pipe, json.dumps(result).encode() + b"\n")


def main_save_together(url, n_writers, n_saves, n_names):
    start, go = os.pipe()
    stop, stopped = os.pipe()
    names = [f"name {i}" for i in range(int(n_names))]
    writers = [forked(write_together, url, start, go, i, int(n_saves), names) for i in range(int(n_writers))]
    readers = [forked(read_meanwhile, url, start, go, stop, stopped, names) for _ in range(2)]
    for end in (start, go, stop):
        os.close(end)
    saved = [line for writer in writers for line in results_of(*writer)]
    os.close(stopped)
    return {"saved": saved, "looks": [line for reader in readers for line in results_of(*reader)]}


def write_together(pipe, url, start, go, writer, n_saves, names):
    os.close(go)
    with ModelStore(url) as models:
        os.read(start, 1)  # until all have been started
        for i in range(n_saves):
            version = models.save(small_tokenizer(writer * n_saves + i), names[i % len(names)])
            report(pipe, [version.name, version.number, version.digest])


def read_meanwhile(pipe, url, start, go, stop, stopped, names):
    """Look at all versions again and again; all must be there from 1 on, and whole."""
    os.close(go)
    os.close(stopped)
    looks = 0
    last = {}
    with ModelStore(url) as models:
        os.read(start, 1)
        while not select.select([stop], [], [], 0)[0]:
            seen = {}
            for version in models.versions():
                seen.setdefault(version.name, {})[version.number] = version
            for name, versions in seen.items():
                assert sorted(versions) == list(range(1, len(versions) + 1)), (name, sorted(versions))
                assert len(versions) >= last.get(name, 0)
                last[name] = len(versions)
                newest = versions[len(versions)]
                ref = f"{name}@{newest.number}"
                assert models.verify(ref).problems == ()
                assert describe(models.load(ref)).digest == newest.digest
            looks += 1
            time.sleep(0.1)  # the writers need the cores
    report(pipe, looks)


def main_save_in_children(url, n_children, n_saves):
    with ModelStore(url) as models:
        models.save(small_tokenizer(0), "parent")
        children = [forked(save_as_child, models, i, int(n_saves)) for i in range(int(n_children))]
        for i in range(int(n_saves)):
            models.save(small_tokenizer(i + 1), "parent")
        saved = [line for child in children for line in results_of(*child)]
        assert models.load("parent@1").merges == small_tokenizer(0).merges
    return saved


def main_close_beside_a_child(url):
    """What is beside the file of a store while a child still has it open, and the one that forked it has not."""
    told, tell = os.pipe()
    with ModelStore(url) as models:
        models.save(small_tokenizer(0), "a")
        child, reading = forked(read_until_told, models, told)
        models.load("a")
        assert os.read(reading, 100)  # the child reads by now
    beside = sorted(path.name for path in Path(make_url(url).database).parent.iterdir())
    os.write(tell, b"x")
    results_of(child, reading)
    return beside


def read_until_told(pipe, models, told):
    models.names()  # by which it finds that it was forked
    with models._database._engine.connect() as connection:
        connection.exec_driver_sql("SELECT 1 FROM names").all()
        report(pipe, "it reads")
        os.read(told, 1)


def main_fork_in_use(url):
    """What a child meets whose parent had a connection in use when it forked."""
    with ModelStore(url) as models:
        models.save(small_tokenizer(0), "a")
        with models._database._engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1 FROM names").all()
            return results_of(*forked(tell_error, url))


def tell_error(pipe, url):
    try:
        ModelStore(url).load("a")
    except Exception as error:
        report(pipe, [type(error).__name__, str(error)])


def save_as_child(pipe, models, child, n_saves):
    for i in range(n_saves):
        version = models.save(small_tokenizer(i), f"child {child}")
        assert models.load(version).merges == small_tokenizer(i).merges
        report(pipe, [version.name, version.number])


def main_kill_savers(url, n_kills, seed):
    generator = random.Random(int(seed))
    seconds = statistics.median(results_of(*forked(time_saves, url)))
    rounds = []
    for number in range(1, int(n_kills) + 1):
        child, reading = forked(save_for_ever, url, number)
        lines = watched(child, reading, generator, seconds)
        saved = [line[1:] for line in lines if line[0] == "saved"]
        rounds.append([saved, bool(lines) and lines[-1] == ["saves"]])
    return rounds


def watched(child, reading, generator, seconds):
    """Kill a child at a random point of its first two saves, or one time in eight while it opens the store or soon
    after. Returns what it reported."""
    if generator.random() < 7 / 8:
        select.select([reading], [], [])
        time.sleep(generator.uniform(0, 2 * seconds))
    else:
        time.sleep(generator.uniform(0, 4 * seconds))
    os.kill(child, signal.SIGKILL)
    if os.waitpid(child, 0)[1] != signal.SIGKILL:
        sys.exit("a process ended before it was killed; what went wrong is above")
    with open(reading) as pipe:
        return [json.loads(line) for line in pipe]


def time_saves(pipe, url):
    with ModelStore(url) as models:
        for i in range(7):
            start = time.perf_counter()
            models.save(small_tokenizer(i), "timed")
            report(pipe, time.perf_counter() - start)


def save_for_ever(pipe, url, number):
    with ModelStore(url) as models:
        for i in range(100):
            tok = small_tokenizer(number * 100 + i)
            report(pipe, ["saves"])
            version = models.save(tok, f"round {number}", tags={"round": str(number)}, aliases=("newest",))
            report(pipe, ["saved", version.number, version.digest])
        time.sleep(SECONDS)


if __name__ == "__main__":
    import contextlib

    import sqlalchemy.dialects.postgresql.psycopg  # now, not in every child
    import sqlalchemy.dialects.sqlite  # noqa: F401

    with contextlib.suppress(ImportError):  # which SQLAlchemy imports when it first connects
        import psycopg  # noqa: F401
    from small_models import small_tokenizer
    from sqlalchemy import make_url

    from cbpe.tokenizers.description import describe
    from store import ModelStore

    programs = {
        "save_together": main_save_together,
        "save_in_children": main_save_in_children,
        "kill_savers": main_kill_savers,
        "close_beside_a_child": main_close_beside_a_child,
        "fork_in_use": main_fork_in_use,
    }
    with ModelStore(":memory:") as first:  # so that no child is the first to make and to load anything
        first.load(first.save(small_tokenizer(0), "first"))
    print(json.dumps(programs[sys.argv[1]](*sys.argv[2:])))
