"""Sources cut into tasks, and tasks done by threads."""

import glob
import json
import os
import pickle
import re
import sys
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from users import as_nobody, folder_for_all

from cbpe.tasks.cutting import cut
from cbpe.tasks.executors import EXECUTORS, executor_of, local
from cbpe.tasks.patterns import matched_by
from cbpe.tasks.progress import Tally
from cbpe.tasks.sources import find_sources, refuse_within_sources


def sources(names, field="text"):
    return find_sources(names, field=field, errors="strict")


@pytest.fixture
def corpus(tmp_path):
    for name, n in [("b.jsonl", 40), ("a.jsonl", 3), ("deep/c.jsonl", 5)]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps({"text": f"{name} {i}"}) + "\n" for i in range(n)))
    (tmp_path / "read_me.txt").write_text("no corpus")
    (tmp_path / "_hidden.jsonl").write_text("no corpus")
    return tmp_path


# ---- Sources


def names(found, folder):
    return [file.path.removeprefix(f"{folder}/") for file in found]


def test_a_folder_is_its_files_in_order(corpus):
    assert names(sources(corpus), corpus) == ["a.jsonl", "b.jsonl", "deep/c.jsonl"]
    assert names(sources(corpus, field=None), corpus) == ["read_me.txt"]


@pytest.mark.parametrize(
    "name", ["book.model", "gpt2.tiktoken", "tokenizer.json", "my-tokenizer.json", "deep/vocab.bpe", "merges.txt"]
)
def test_a_tokenizer_that_a_folder_holds_is_told_as_it_is_read_as_text(tmp_path, name):
    (tmp_path / "deep").mkdir()
    for each in ("a.txt", "models.json", "my.model.txt", "merges.txt.old", name):
        (tmp_path / each).write_text("words")
    told = rf"of the folder .*, 1 file \({re.escape(name)}\) is read as text, by its name a tokenizer: keep"
    with pytest.warns(UserWarning, match=told) as caught:
        found = find_sources(tmp_path, field=None, errors="strict")
    assert (len(found), len(caught)) == (5, 1)
    find_sources([tmp_path / name], field=None, errors="strict")  # whoever names a file means it


def test_texts_of_a_folder_that_are_left_out_are_told(tmp_path):
    for name in ("a.txt", "b.jsonl", "c.jsonl.gz", "deep/d.parquet", "E.TXT.xz", "README.md", ".f.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.warns(UserWarning, match="are left out") as caught:
        assert names(sources(tmp_path, field=None), tmp_path) == ["E.TXT.xz", "README.md", "a.txt"]
    assert [str(each.message) for each in caught] == [
        f"of the folder {tmp_path}, 3 files of JSON Lines and Parquet (b.jsonl, c.jsonl.gz, deep/d.parquet) are left "
        "out: to read such in place of the others, set field to a name"
    ]
    with pytest.warns(UserWarning, match="are left out") as caught:
        assert names(sources(tmp_path), tmp_path) == ["b.jsonl", "c.jsonl.gz", "deep/d.parquet"]
    assert [str(each.message) for each in caught] == [
        f"of the folder {tmp_path}, 3 files (E.TXT.xz, README.md, a.txt) are left out, as they have no field"
    ]
    for path in [*tmp_path.glob("*.txt"), *tmp_path.glob("*.xz"), *tmp_path.glob("*.md")]:
        path.rename(path.with_suffix(".jsonl.txt"))
    with pytest.warns(UserWarning, match=r"3 files \(E\.TXT\.jsonl\.txt, README\.jsonl\.txt, a\.jsonl\.txt\)"):
        sources(tmp_path)


def test_a_text_that_is_given_for_a_source_is_told(tmp_path):
    for given in ("a text of some words", ["a text\nof two lines"]):
        with pytest.raises(FileNotFoundError, match="a source is the name of a file, not a text"):
            sources(given, field=None)
    with pytest.raises(FileNotFoundError, match="No such file or directory"):
        sources(str(tmp_path / "gone.txt"), field=None)


def test_a_compressed_file_that_is_not_read_is_told_to_be_decompressed(tmp_path):
    (tmp_path / "a.jsonl.bz2").touch()
    for found, field in ((tmp_path, "text"), (tmp_path / "a.jsonl.bz2", "text"), (tmp_path / "a.jsonl.bz2", None)):
        with pytest.raises(ValueError, match=r"a\.jsonl\.bz2 is compressed by bzip2: decompress it first"):
            sources(found, field=field)
    with pytest.raises(ValueError, match=r"holds no file of plain text; for \.jsonl and \.parquet, set field"):
        sources(tmp_path, field=None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_that_was_written_to_is_no_other_source(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (found,) = sources(tmp_path / "pipe", field=None)
    os.utime(tmp_path / "pipe", (1, 1))
    found.refuse_changed()


@pytest.mark.parametrize("name", ["", "*", "*.txt", "**/*.txt", "*/x.txt", "*/deep/*.txt", "closed", "closed/*.txt"])
def test_a_folder_that_cannot_be_read_is_no_folder_less(name):
    def find():
        try:
            sources(os.path.join(folder, name), field=None)
        except PermissionError as error:
            raise RuntimeError(os.path.relpath(error.filename, folder).split("/")[0]) from error

    with folder_for_all() as folder:
        (folder / "closed" / "deep").mkdir(parents=True)
        (folder / "open" / "deep").mkdir(parents=True)
        for path in ("x.txt", "open/x.txt", "open/deep/x.txt", "closed/x.txt"):
            (folder / path).write_text("text")
        (folder / "closed").chmod(0)
        said = as_nobody(find)
        (folder / "closed").chmod(0o700)
    assert said == ("" if name in ("*", "*.txt") else "RuntimeError('closed')")


def test_a_hidden_folder_may_be_closed():
    with folder_for_all() as folder:
        (folder / ".closed").mkdir()
        (folder / "x.txt").write_text("text")
        (folder / ".closed").chmod(0)
        assert as_nobody(lambda: sources(folder, field=None)) == ""
        (folder / ".closed").chmod(0o700)


def test_links_to_folders_are_told_and_links_to_nothing_are_errors(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_text("text")
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "b.txt").symlink_to(tmp_path / "elsewhere" / "a.txt")
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(UserWarning, match=r"1 link to a folder \(more\) is not followed: name what is behind"):
        assert names(sources(folder, field=None), folder) == ["b.txt"]
    (folder / "c.txt").symlink_to(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match=r"c\.txt"), pytest.warns(UserWarning, match="not followed"):
        sources(folder, field=None)


def linked(tmp_path):
    """A folder with texts, and links to another folder, to itself and to nothing."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_text("text")
    folder = tmp_path / "corpus"
    (folder / "inner").mkdir(parents=True)
    for name in ("b.txt", "inner/c.txt", "inner/.hidden.txt"):
        (folder / name).write_text("text")
    (folder / "inner" / "more").symlink_to(tmp_path / "elsewhere")
    (folder / "round").symlink_to(folder)
    return folder


@pytest.mark.parametrize("name", [".", "../corpus", "./"])
def test_hidden_files_are_left_out_of_the_folder_that_one_is_in(tmp_path, monkeypatch, name):
    folder = tmp_path / "corpus"
    (folder / ".hidden").mkdir(parents=True)
    for file in ("a.txt", ".b.txt", "_c.txt", ".hidden/d.txt"):
        (folder / file).write_text("text")
    monkeypatch.chdir(folder)
    assert [Path(file.path).name for file in sources(name, field=None)] == ["a.txt"]


@pytest.mark.parametrize("pattern", ["**/*.txt", "**", "**/*", "**/**/*.txt", "../corpus/**/[bc].txt"])
def test_links_to_folders_that_stars_come_to_are_told_and_not_followed(tmp_path, monkeypatch, pattern):
    monkeypatch.chdir(linked(tmp_path))
    with pytest.warns(UserWarning, match=r"of what \S+ matches, 2 links to folders \(\S+, \S+\) are not fol") as told:
        found = sources(pattern, field=None)
    assert sorted(Path(file.path).name for file in found) == ["b.txt", "c.txt"]
    assert len(told) == 1


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*/more/*.txt", ["inner/more/a.txt"]),
        ("*r/*/*.txt", ["inner/more/a.txt"]),
        ("inner/more/**", ["inner/more/a.txt"]),
        ("round/*.txt", ["round/b.txt"]),
    ],
)
def test_links_to_folders_that_a_pattern_names_are_followed(tmp_path, pattern, expected, recwarn):
    folder = linked(tmp_path)
    assert names(sources(folder / pattern, field=None), folder) == expected
    assert recwarn.list == []


@pytest.mark.parametrize("name", ["", "*.txt", "**"])
def test_a_file_of_two_names_is_read_once(tmp_path, name):
    (tmp_path / "2026.txt").write_text("text")
    (tmp_path / "latest.txt").symlink_to("2026.txt")
    with pytest.warns(UserWarning, match=r"1 file \(\S*latest\.txt\) is left out, as the same is read by another name"):
        assert names(sources(tmp_path / name, field=None), tmp_path) == ["2026.txt"]
    with pytest.raises(ValueError, match=r"latest\.txt is named twice \(the first time as \S*2026\.txt\)"):
        sources([tmp_path / "2026.txt", tmp_path / "latest.txt"], field=None)


def test_only_links_that_are_left_are_told(tmp_path):
    folder = linked(tmp_path)
    with pytest.warns(UserWarning, match=r"matches, 1 link to a folder \(\S*/corpus/round\) is not followed"):
        assert names(sources(folder / "**/more/*.txt", field=None), folder) == ["inner/more/a.txt"]


def test_a_link_to_nothing_that_a_pattern_matches_is_an_error(corpus):
    (corpus / "z.jsonl").symlink_to(corpus / "nothing")
    with pytest.raises(FileNotFoundError, match=r"z\.jsonl"):
        sources(corpus / "*.jsonl")


def test_a_pattern_matches_what_glob_finds(tmp_path):
    """Generated trees without links, with names that hide and that are patterns."""
    random = Random(19)
    parts = ["a", "b.txt", ".c", "[d]", "_e", "a b"]
    for tree in range(20):
        top = tmp_path / str(tree)
        for _ in range(15):
            folder = top.joinpath(*random.choices(parts, k=random.randrange(4)))
            if not any(above.is_file() for above in (folder, *folder.parents)):
                folder.mkdir(parents=True, exist_ok=True)
                if not (file := folder / random.choice(parts)).is_dir():
                    file.touch()
        for _ in range(20):
            asked = random.choices([*parts, "**", "*", "**", "?", ".*", "*.txt", "[ab]*"], k=random.randrange(1, 5))
            pattern = Path(glob.escape(str(top)), *asked)
            found, links = matched_by(pattern)
            expected = [*filter(os.path.exists, glob.glob(str(pattern), recursive=True))]  # it makes some up
            assert sorted(found) == sorted({*map(Path, expected)}), asked
            assert links == []


def test_a_pattern_is_its_files_in_order(corpus):
    assert names(sources(f"{corpus}/[ab].jsonl"), corpus) == ["a.jsonl", "b.jsonl"]
    assert names(sources([f"{corpus}/**/c.jsonl", corpus / "a.jsonl"]), corpus) == ["deep/c.jsonl", "a.jsonl"]


def test_folders_that_a_pattern_matches_are_told(corpus, recwarn):
    (corpus / "d.jsonl").write_text('{"text": "d"}\n')
    (corpus / "deeper").mkdir()
    (corpus / "deeper" / ".hidden").touch()
    (corpus / "read_me.txt").unlink()
    for pattern, n_files in (("**", 5), ("**/*", 5), ("deep*/**", 1), ("*.jsonl", 4)):
        assert len(sources(corpus / pattern)) == n_files
    assert recwarn.list == []
    told = r"of what .*/d\* matches, 1 folder \(\S*deep\) is left out, as a pattern is of files: name what else to read"
    with pytest.warns(UserWarning, match=told):
        assert names(sources(corpus / "d*"), corpus) == ["d.jsonl"]
    with pytest.raises(ValueError, match=r"no file matches .*/de\*, but 1 folder \(\S*deep\): name what to read, as"):
        sources(corpus / "de*")


def test_urls_are_files_folders_and_patterns():
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe({"/in/b.jsonl": b"", "/in/a.jsonl": b"", "/in/c.txt": b""})
    try:
        assert [file.path for file in sources("memory://in")] == ["memory:///in/a.jsonl", "memory:///in/b.jsonl"]
        assert [file.path for file in sources("memory://in/*.jsonl")] == [
            "memory:///in/a.jsonl",
            "memory:///in/b.jsonl",
        ]
        assert [file.path for file in sources("memory://in/b.jsonl")] == ["memory:///in/b.jsonl"]
    finally:
        memory.store.clear()


def test_folders_that_a_pattern_of_a_url_matches_are_told(recwarn):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe({"/in/d.jsonl": b"", "/in/deep/a.jsonl": b"", "/in/deeper/.b.jsonl": b"", "/in/deeper/_c/d.jsonl": b""})
    try:
        for pattern, n_files in (("deep/**", 1), ("deep/*", 1), ("*.jsonl", 1)):
            assert len(sources(f"memory://in/{pattern}")) == n_files
        assert recwarn.list == []
        told = r"of what memory://in/d\* matches, 1 folder \(memory:///in/deep\) is left out, as a pattern is of files"
        with pytest.warns(UserWarning, match=told):
            assert [file.path for file in sources("memory://in/d*")] == ["memory:///in/d.jsonl"]
        with pytest.raises(ValueError, match=r"no file matches memory://in/de\*, but 1 folder \(memory:///in/deep\)"):
            sources("memory://in/de*")
    finally:
        memory.store.clear()


def test_what_is_no_source_is_refused(corpus):
    with pytest.raises(ValueError, match=r"a.jsonl is named twice \(the first time as .*a.jsonl\)"):
        sources([corpus / "a.jsonl", corpus])
    with pytest.raises(ValueError, match=r"^no file matches .*\*\.none$"):
        sources(f"{corpus}/*.none")
    with pytest.raises(FileNotFoundError):
        sources(corpus / "none.jsonl")
    with pytest.raises(TypeError, match="names of files, not int: 7"):
        sources(7)
    with pytest.raises(TypeError, match="names of files, and a dict holds texts: write it to a file"):
        sources({"text": ["a"]})
    with pytest.raises(TypeError, match=r"the sources are a set, which has no order, .*: pass a list"):
        sources({corpus / "a.jsonl", corpus / "b.jsonl"})
    with pytest.raises(ValueError, match=r"^'' names no file"):
        sources(["", corpus])
    with pytest.raises(TypeError, match="name of a file, not bytes"):
        sources([b"text"])
    with pytest.raises(ValueError, match="there are no sources"):
        sources([])
    with pytest.raises(ValueError, match='set field to its name, such as "text"'):
        sources(corpus / "a.jsonl", field=None)


def test_an_output_among_the_sources_is_refused_unless_its_name_hides_it(corpus):
    for sources_, output in ((corpus, "out"), (str(corpus), "a/b.words"), ([corpus], "."), ((corpus,), "out")):
        with pytest.raises(ValueError, match="all files of which are sources: name one beside it"):
            refuse_within_sources(corpus / output, sources_)
    for sources_, output in (
        (corpus, "../out"),
        (corpus, "_out"),
        (corpus, ".out/shards"),
        (corpus / "a.jsonl", "out"),
        (f"{corpus}/*.jsonl", "out"),
    ):
        refuse_within_sources(corpus / output, sources_)


@pytest.mark.parametrize("pattern", ["*", "**", "**/*.model", "**/*", "*.model", "[k-m].*"])
def test_an_output_that_a_pattern_matches_is_refused_and_glob_would_find_it(corpus, pattern, monkeypatch):
    monkeypatch.chdir(corpus)
    with pytest.raises(ValueError, match=r"m\.model would be among the sources, as .* matches it: give another name"):
        refuse_within_sources("m.model", [pattern])
    for output in ("deep/.m.model", ".deep/m.model", "m/n.txt", "../m.model"):
        is_match = output == "m/n.txt" and pattern in ("**", "**/*")
        if not is_match:
            refuse_within_sources(output, [pattern])
    for_folders = pattern in ("**", "**/*")
    if for_folders:
        with pytest.raises(ValueError, match=r"as .* matches it"):
            refuse_within_sources("out", [pattern], is_folder=True)
    else:
        refuse_within_sources("out", [pattern], is_folder=True)
    (corpus / "m.model").touch()
    assert "m.model" in {os.path.basename(name) for name in glob.glob(pattern, recursive=True)}


def test_a_file_that_changed_is_refused(corpus):
    (found,) = sources(corpus / "a.jsonl")
    found.refuse_changed()
    (corpus / "a.jsonl").write_text('{"text": "other"}\n')
    with pytest.raises(ValueError, match=r"a.jsonl has changed since the run began"):
        found.refuse_changed()


# ---- Cutting


def texts_of(task):
    return [text.decode() for span in task.spans for text in span.open("text", "strict").texts()]


@pytest.mark.parametrize("task_bytes", [1, 30, 100, 500, 10**9])
def test_tasks_have_every_text_once_and_in_order(corpus, task_bytes):
    files = sources(corpus)
    tasks = cut(files, field="text", task_bytes=task_bytes)
    expected = [f"{name} {i}" for name, n in [("a.jsonl", 3), ("b.jsonl", 40), ("deep/c.jsonl", 5)] for i in range(n)]
    assert [text for task in tasks for text in texts_of(task)] == expected
    assert [task.number for task in tasks] == list(range(len(tasks)))
    assert sum(task.size for task in tasks) == sum(file.size for file in files)
    assert pickle.loads(pickle.dumps(tasks)) == tasks


def test_a_large_file_that_is_not_cut_is_told(tmp_path, recwarn):
    (tmp_path / "book.txt").write_text("the cat sat " * 10)
    (tmp_path / "rows.jsonl").write_text('{"text": "the cat sat"}\n' * 10)
    text, rows = (str(tmp_path / name) for name in ("book.txt", "rows.jsonl"))
    assert len(cut(sources(text, None), field=None, task_bytes=60)) == 1
    assert len(cut(sources(rows), field="text", task_bytes=60)) == 4
    assert recwarn.list == []
    with pytest.warns(
        UserWarning, match=r"book\.txt is one task, of more than 2 times task_bytes: only \.parquet, and"
    ):
        assert len(cut(sources(text, None), field=None, task_bytes=59)) == 1
    with pytest.warns(UserWarning, match=r"rows\.jsonl is one task, .*: only \.parquet is cut where shards number"):
        assert len(cut(sources(rows), field="text", task_bytes=60, within_lines=False)) == 1


def test_parquet_is_cut_at_row_groups(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": [f"text {i}" for i in range(100)]}), path, row_group_size=10)
    tasks = cut(sources(path), field="text", task_bytes=300)
    assert len(tasks) > 1
    assert [text for task in tasks for text in texts_of(task)] == [f"text {i}" for i in range(100)]


# ---- Executors


def test_threads_do_every_task_once(corpus):
    tasks = cut(sources(corpus), field="text", task_bytes=50)
    done, heard = [], []
    tally = Tally(heard.append, sum(task.size for task in tasks), len(tasks), "reading")

    def work(task, threads, tell):
        done.append(task.number)
        tell(1, 2, task.size)
        return {}

    local(work, tasks, 3, tally)
    assert sorted(done) == list(range(len(tasks)))
    assert heard[-1].tasks == heard[-1].total_tasks == len(tasks)
    assert heard[-1].bytes == heard[-1].total_bytes
    assert heard[-1].tokens == 2 * len(tasks)
    assert heard[-1].seconds_left == 0


def test_what_a_task_raises_ends_the_run(corpus):
    tasks = cut(sources(corpus), field="text", task_bytes=1)
    begun = []

    def work(task, threads, tell):
        begun.append(task.number)
        if task.number == 1:
            raise ValueError("task 1")
        while len(begun) < len(tasks):
            tell(0, 0, 0)

    with pytest.raises(ValueError, match="task 1"):
        local(work, tasks, 2, Tally(None, 0, len(tasks), "reading"))
    assert len(begun) < len(tasks)


def test_an_executor_that_is_not_there_is_refused():
    assert executor_of("local") is local
    with pytest.raises(ValueError, match="executor is 'spark'; it must be one of 'local'"):
        executor_of("spark")


def test_an_executor_of_another_module_is_found_by_its_registered_name(monkeypatch):
    module = ModuleType("tasks_elsewhere")
    module.elsewhere = lambda work, tasks, workers, tally: None
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(EXECUTORS, "elsewhere", "tasks_elsewhere:elsewhere")
    assert executor_of("elsewhere") is module.elsewhere


def test_an_executor_whose_module_misses_a_library_is_refused_before_the_run(monkeypatch):
    def imported():
        raise ImportError("needs a library")

    module = ModuleType("tasks_elsewhere")
    module.elsewhere, module.imported = print, imported
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(EXECUTORS, "elsewhere", "tasks_elsewhere:elsewhere")
    with pytest.raises(ImportError, match="needs a library"):
        executor_of("elsewhere")


def test_a_size_that_makes_far_too_many_tasks_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("cbpe.tasks.cutting.MOST_TASKS", 50)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "a"}\n' * 40)
    assert len(cut(sources(rows), field="text", task_bytes=14)) == 40
    with pytest.raises(
        ValueError, match=r"task_bytes is 1, which cuts the corpus into more than 50 tasks, .*give more"
    ):
        cut(sources(rows), field="text", task_bytes=1)


def test_many_small_tasks_are_told(tmp_path, recwarn):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "a"}\n' * 520)
    assert len(cut(sources(rows), field="text", task_bytes=28)) == 260
    assert recwarn.list == []
    with pytest.warns(
        UserWarning, match="the corpus is cut into 520 tasks, as task_bytes is 14: each has files of its own"
    ):
        assert len(cut(sources(rows), field="text", task_bytes=14)) == 520
