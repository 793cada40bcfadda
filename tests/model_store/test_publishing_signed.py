"""Published copies that are signed: with keys, what is not signed by one of them, or was altered, is refused."""

import json
import shutil

import pytest
from command_line import error_of, run
from published_copies import TOKS

import cbpe
from store import BadSignature, Damaged, NotFound, Refused
from store.sharing import published


def new_key():
    return pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey.generate()


@pytest.fixture(scope="module")
def key():
    return new_key()


@pytest.fixture
def signed(models, key, tmp_path):
    """A published copy whose index is signed, of a store of either kind."""
    models.save(TOKS[0], "a")
    models.save(TOKS[1], "a", aliases=["prod"])
    models.publish(tmp_path / "signed", key=key)
    return tmp_path / "signed"


def test_a_copy_that_one_of_the_keys_has_signed_is_loaded(signed, key):
    other = new_key().public_key()
    for reference, tok in (("a@1", TOKS[0]), ("a@prod", TOKS[1])):
        assert published.load(f"{signed}/{reference}", keys=[other, key.public_key()]).merges == tok.merges
        assert published.load(f"{signed}/{reference}").merges == tok.merges  # who gives no key looks at none
    with pytest.raises(NotFound):
        published.load(f"{signed}/b", keys=key.public_key())


def test_a_signed_copy_is_not_replaced_by_an_unsigned_one(models, signed, key):
    before = (signed / "index.json").read_bytes()
    with pytest.raises(
        Refused, match=r"index\.json is signed, and whoever asks for that takes no unsigned one: set key"
    ):
        models.publish(signed)
    assert (signed / "index.json").read_bytes() == before
    models.set_alias("a", "old", "a@1")
    assert models.publish(signed, key=key) == 0
    assert published.load(f"{signed}/a@old", keys=key.public_key()).merges == TOKS[0].merges
    (signed / "index.json").unlink()
    models.publish(signed)
    assert published.load(f"{signed}/a@old").merges == TOKS[0].merges


def test_what_is_signed_is_what_the_docs_say(signed, key):
    said = json.loads((signed / "index.json").read_text("ascii"))
    signature = bytes.fromhex(said.pop("signature"))
    line = b"cbpe published copy, signature 1\n"
    key.public_key().verify(signature, line + json.dumps(said, sort_keys=True, separators=(",", ":")).encode())


def changed(signed, change):
    """Change what the index says, without signing it again."""
    said = json.loads((signed / "index.json").read_text("ascii"))
    change(said)
    (signed / "index.json").write_text(json.dumps(said))


ALTERED = {
    "an alias": lambda said: said["names"]["a"]["aliases"].update(prod=1),
    "another alias": lambda said: said["names"]["a"]["aliases"].update(other=1),
    "a version": lambda said: said["names"]["a"]["versions"].update({"1": said["names"]["a"]["versions"]["2"]}),
    "a name": lambda said: said["names"].update(b=said["names"]["a"]),
    "nothing signed": lambda said: said.pop("signature"),
    "null": lambda said: said.update(signature=None),
    "another signature": lambda said: said.update(signature="0" * 128),
}


@pytest.mark.parametrize("change", ALTERED)
def test_an_index_that_was_altered_is_refused_before_anything_else_is_read(signed, key, change):
    changed(signed, ALTERED[change])
    shutil.rmtree(signed / "files")
    with pytest.raises(BadSignature, match=r"index\.json is not signed"):
        published.load(f"{signed}/a@prod", keys=[key.public_key()])


@pytest.mark.parametrize("signature", ["", "0" * 127, "A" * 128, 7, [], "x" * 128])
def test_what_is_no_signature_makes_no_index(signed, signature):
    changed(signed, lambda said: said.update(signature=signature))
    with pytest.raises(Damaged, match="its signature is"):
        published.load(f"{signed}/a")


def test_a_copy_that_is_unsigned_or_of_another_key_is_refused(published_folder, signed, key):
    with pytest.raises(BadSignature, match="published without a key"):
        published.load(f"{published_folder}/a", keys=key.public_key())
    with pytest.raises(BadSignature, match="another key's"):
        published.load(f"{signed}/a", keys=new_key().public_key())


def test_a_file_that_was_exchanged_is_not_the_one_that_the_signed_index_says(signed, key):
    entries = json.loads((signed / "index.json").read_text("ascii"))["names"]["a"]["versions"]
    (signed / entries["1"]["file"]).write_bytes((signed / entries["2"]["file"]).read_bytes())
    with pytest.raises(Damaged, match=r"is not the file that the index says|more than"):
        published.load(f"{signed}/a@1", keys=key.public_key())
    assert published.load(f"{signed}/a@2", keys=key.public_key()).merges == TOKS[1].merges


@pytest.mark.usefixtures("installed")
def test_cbpe_load_takes_keys_for_a_published_copy_alone(signed, key, tmp_path):
    assert cbpe.load(f"{signed}/a", keys=[key.public_key()]).merges == TOKS[1].merges
    with pytest.raises(BadSignature):
        cbpe.load(f"{signed}/a", keys=[new_key().public_key()])
    with pytest.raises(ValueError, match="no key is given"):
        cbpe.load(f"{signed}/a", keys=[])
    TOKS[0].save(str(tmp_path / "file"))
    with pytest.raises(ValueError, match="keys are for a version in a published copy"):
        cbpe.load(tmp_path / "file.model", keys=[key.public_key()])


def test_what_is_no_key_publishes_nothing(models, tmp_path):
    pytest.importorskip("cryptography")
    (tmp_path / "key.pem").write_text("none")
    with pytest.raises(ValueError, match="no private key"):
        models.publish(tmp_path / "public", key=tmp_path / "key.pem")
    assert not (tmp_path / "public").exists()


def test_the_command_line_publishes_with_a_key(models, key, tmp_path):
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "private.pem").write_bytes(private)
    models.save(TOKS[0], "a")
    store = models._database.url.render_as_string(hide_password=False)
    place = tmp_path / "public"
    done = run("models", "publish", place, "--key", tmp_path / "private.pem", "--store", store)
    assert done.stdout == "files written: 1\n"
    assert published.load(f"{place}/a", keys=key.public_key()).merges == TOKS[0].merges


def test_the_command_line_takes_tokenizers_of_signed_copies_alone(signed, key, tmp_path):
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    mine, other = tmp_path / "mine.pem", tmp_path / "other.pem"
    for path, one in ((mine, key), (other, new_key())):
        path.write_bytes(one.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    count = ["count", "-t", f"{signed}/a", "-"]
    told = run("--key", other, "--key", mine, *count, stdin=b"low lower").stdout
    assert told == run(*count, stdin=b"low lower").stdout
    assert told.split()[0] == str(len(TOKS[1].encode("low lower")))
    assert "BadSignature" not in (refused := error_of("--key", other, *count, stdin=b"low"))
    assert "index.json is not signed by any of the keys that are given" in refused
    for command, option in (
        (["models", "export", "a", tmp_path / "x"], "--key"),
        (["models", "diff", "a", "a"], "--key"),
        (["ui", "--no-open"], "--key"),
        (["convert", f"{signed}/a", tmp_path / "x.json", "--pattern", "gpt4"], "--pattern"),
    ):
        assert f"Invalid value for {option}: " in error_of("--key", mine, *command, exit_code=2)
    assert run("--key", mine, "models", "save", "copied", "-t", f"{signed}/a", "--store", tmp_path / "s.db").stdout
    unused = run("--key", mine, "encodings")
    assert "--key was not used: no tokenizer was read, which it is for" in unused.stderr
    assert "gpt2" in unused.stdout
    for elsewhere in ("gpt2", tmp_path / "file.model", "name"):
        told = error_of("--key", mine, "count", "-t", elsewhere, "-", stdin=b"low")
        assert f"{elsewhere}: --key takes tokenizers of published copies alone, and this is none" in told
