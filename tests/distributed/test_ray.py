"""Runs on a real cluster of Ray's, of several nodes on this machine: their files are those of a run without it."""

import json
import os
import sys
from pathlib import Path

import pytest
from shard_runs import bytes_of

import cbpe
from cbpe.tasks.executors import EXECUTORS

ray = pytest.importorskip("ray", reason="needs Ray")
cluster_utils = pytest.importorskip("ray.cluster_utils", reason="needs Ray")
pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="for POSIX")]

N = 120  # documents
HEALTH = {"health_check_period_ms": 500, "health_check_failure_threshold": 20}  # machines are busy


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A head that does no tasks, and two nodes of one core; a third is added by whoever removes one."""
    lost = tmp_path_factory.mktemp("lost")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # All servers listen on the loopback interface.
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        patch.setattr("ray._private.ray_constants.ENABLE_RAY_CLUSTER", False)
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": HEALTH}
        nodes = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(2):
                nodes.add_node(num_cpus=1)
            paths = os.pathsep.join(filter(None, sys.path))
            env = {"PYTHONPATH": paths, "CBPE_TEST_LOST": str(lost)}
            ray.init(address=nodes.address, runtime_env={"env_vars": env}, log_to_driver=False, logging_level="ERROR")
            nodes.wait_for_nodes(timeout=60)
            yield nodes
        finally:
            ray.shutdown()
            nodes.shutdown()


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for k in range(3):
        rows = [json.dumps({"text": f"document {40 * k + i} of {i % 7} " * (i % 5 + 1)}) for i in range(N // 3)]
        (folder / f"{k}.jsonl").write_text("\n".join(rows) + "\n")
    return folder


def count(corpus, out, **options):
    manifest = cbpe.count_corpus(corpus, out, field="text", task_bytes=700, partitions=3, **options)
    return manifest, Path(out).read_bytes()


def test_a_count_whose_processes_are_killed_is_that_of_one_machine(cluster, corpus, tmp_path, monkeypatch):
    import ray_work

    manifest, local = count(corpus, tmp_path / "local.words")
    monkeypatch.setattr("cbpe.counting.corpus.CountTask", ray_work.LostCountTask)
    heard = []
    found, remote = count(corpus, tmp_path / "ray.words", executor="ray", progress=heard.append, verify=True)
    assert remote == local
    assert found["tasks"] == manifest["tasks"]
    assert len(found["tasks"]) > 9
    assert max(progress.documents for progress in heard) == N
    learned = [list(cbpe.train(source, 300).merges) for source in (tmp_path / "ray.words", tmp_path / "local.words")]
    assert learned[0] == learned[1] == list(cbpe.train(sorted(corpus.iterdir()), 300, field="text").merges)


def test_tasks_that_are_done_twice_leave_what_is_left_once(cluster, corpus, tmp_path, monkeypatch):
    monkeypatch.setitem(EXECUTORS, "twice", "ray_work:twice")
    assert count(corpus, tmp_path / "a.words", executor="twice")[1] == count(corpus, tmp_path / "b.words")[1]


def test_what_a_task_raises_ends_the_run_with_its_words(cluster, corpus, tmp_path):
    with open(corpus / "1.jsonl", "a") as file:
        file.write('{"text": 5}\n')
    said = r"1.jsonl, the line at byte \d+, has no text in the field 'text', but a number"
    for k in range(20):  # other tasks begin and end meanwhile, in another order each time
        out = tmp_path / f"{k}.words"
        with pytest.raises(ValueError, match=said):
            count(corpus, out, executor="ray")
        assert not out.exists()


def test_a_dataset_is_counted_where_it_is(cluster, corpus):
    data = pytest.importorskip("ray.data", reason="needs Ray with its datasets")
    lines = [line for file in sorted(corpus.iterdir()) for line in file.read_text().splitlines()]
    whole = cbpe.count_words(sorted(corpus.iterdir()), field="text")
    dataset = data.from_items([json.loads(line) for line in lines]).repartition(5)
    assert cbpe.distributed.count_words(dataset, "text") == whole
    unordered = cbpe.distributed.count_words(dataset, "text", ordered=False, min_count=2)
    assert list(unordered) == sorted((piece, n) for piece, n in whole if n >= 2)
    assert unordered.text_bytes == whole.text_bytes
    assert not dataset.context.execution_options.preserve_order
    with pytest.raises(ValueError, match="the dataset has no column 'body'; it has 'text'"):
        cbpe.distributed.count_words(dataset, "body")


def test_null_rows_of_a_dataset_are_left_out_and_counted(cluster):
    data = pytest.importorskip("ray.data", reason="needs Ray with its datasets")
    rows = [{"text": text} for text in ("to be", None, "or not", None, None, "to be")]
    dataset = data.from_items(rows).repartition(3)
    with pytest.warns(UserWarning, match="^left out 3 texts that are null$"):
        counts = cbpe.distributed.count_words(dataset, "text", missing="skip")
    assert counts == cbpe.count_words(["to be", "or not", "to be"])
    with pytest.raises(Exception, match=r"a value is missing there.*, or set missing to 'skip'"):
        cbpe.distributed.count_words(dataset, "text")
    with pytest.raises(ValueError, match="missing is 'drop'; it must be 'error' or 'skip'"):
        cbpe.distributed.count_words(dataset, "text", missing="drop")


# The last one: what Ray does after it has lost a node is not what is tested here.
def test_shards_of_a_cluster_that_loses_a_node_are_those_of_one_machine(cluster, corpus, tmp_path, monkeypatch):
    import ray_work

    tok = cbpe.BasicTokenizer()
    options = {"field": "text", "task_bytes": 700, "shard_tokens": 900, "shuffle": 3, "append_eot": False}
    local = cbpe.tokenize(corpus, tok, tmp_path / "local", "datatrove", **options)
    monkeypatch.setattr("cbpe.shards.tokenize.EncodeTask", ray_work.SlowEncodeTask)
    third = cluster.add_node(num_cpus=1)
    removed = []

    def remove(progress):
        if progress.tasks >= 2 and not removed:
            removed.append(third)
            cluster.remove_node(third, allow_graceful=False)

    monkeypatch.chdir(tmp_path)  # and names are relative
    remote = cbpe.tokenize(
        "corpus", tok, "remote", "datatrove", executor="ray", progress=remove, verify=True, **options
    )
    assert removed
    assert bytes_of(tmp_path / "remote") == bytes_of(tmp_path / "local")
    assert remote["shards"] == local["shards"]
