"""What is said where Ray is not there, or what is no Dataset is counted."""

import sys

import pytest

import cbpe


def test_the_extra_is_named_where_ray_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "a.txt").write_text("to be")
    with pytest.raises(ImportError, match=r'the executor "ray" takes Ray: pip install "cbpe\[ray\]"'):
        cbpe.count_corpus(tmp_path / "a.txt", tmp_path / "a.words", executor="ray")
    with pytest.raises(ImportError, match='the executor "ray" takes Ray'):
        cbpe.tokenize(tmp_path / "a.txt", cbpe.get_encoding("gpt2"), tmp_path / "shards", executor="ray")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]  # no run was begun


def test_what_is_no_dataset_is_refused():
    with pytest.raises(TypeError, match="dataset must be a Dataset of Ray's, not list"):
        cbpe.distributed.count_words([{"text": "to be"}], "text")
