"""Signed exports: with keys, what is not signed by one of them, or not as it was signed, is refused."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import cbpe
from store import BadSignature, Damaged, ModelStore, Refused

pytestmark = pytest.mark.ci

ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")

TOK = cbpe.train("low lower lowest newer wider", 262)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """PEM files of two pairs of keys, and of keys that will not do."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ours", "theirs"):
        key = ed25519.Ed25519PrivateKey.generate()
        write_pair(folder, name, key)
    from cryptography.hazmat.primitives.asymmetric import ec

    write_pair(folder, "ec", ec.generate_private_key(ec.SECP256R1()))
    locked = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    (folder / "locked.pem").write_bytes(locked)
    (folder / "none.pem").write_bytes(b"no key")
    (folder / "long.pem").write_bytes(b"-" * 100_000)
    return folder


def write_pair(folder, name, key):
    pem = serialization.Encoding.PEM
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / f"{name}.pem").write_bytes(key.private_bytes(pem, *plain))
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    (folder / f"{name}.pub").write_bytes(public)


@pytest.fixture
def store(empty_store, tmp_path):
    """A store with a@2, b@1; the tests export from it and import to it."""
    with ModelStore(shutil.copy(empty_store, tmp_path / "models.db")) as models:
        models.save(cbpe.train("low", 257), "a")
        models.save(TOK, "a", tags={"x": "y"})
        models.save(TOK, "b")
        yield models


def test_an_export_without_a_key_warns_of_a_signature_of_something_else(store, signed):
    store.export("a", signed)  # the same version, whose signature still holds
    with pytest.warns(UserWarning, match=r"x\.sig is a signature of what \S*x was before.* set key to sign it, or del"):
        store.export("b", signed)
    (signed.parent / "x.sig").write_text("no signature at all")
    with pytest.warns(UserWarning, match="not of this"):
        store.export("a", signed)


def test_a_signature_takes_the_place_of_a_signature_alone(store, signed, keys, tmp_path):
    store.export("b", signed, key=keys / "ours.pem")
    for content in (b"mine", b'{"mine": 1}', b"x" * 20_000):
        (tmp_path / "x.sig").write_bytes(content)
        before = signed.read_bytes()
        with pytest.raises(Refused, match=r"x\.sig is there already, and is no signature that another could replace"):
            store.export("a", signed, key=keys / "ours.pem")
        assert ((tmp_path / "x.sig").read_bytes(), signed.read_bytes()) == (content, before)
    (tmp_path / "x.sig").write_bytes(b"")
    store.export("a", signed, key=keys / "ours.pem")


@pytest.fixture
def signed(store, keys, tmp_path):
    store.export("a", tmp_path / "x", key=keys / "ours.pem")
    return tmp_path / "x"


def refuse(store, path, keys, message, error=BadSignature):
    before = store.audit_log(), store.names()
    with pytest.raises(error, match=message):
        store.import_(path, keys=keys)
    assert (store.audit_log(), store.names()) == before


def test_a_signed_file_is_put_in_by_any_of_the_keys(models, keys, tmp_path):
    models.save(TOK, "a", tags={"x": "y"})
    models.export("a", tmp_path / "x", key=keys / "ours.pem")
    assert models.import_(tmp_path / "x", "c", keys=[keys / "theirs.pub", str(keys / "ours.pub")]).tags == {"x": "y"}
    assert models.audit_log("c")[0].details["source"] == f"{tmp_path / 'x'}, signed as a@1"
    assert models.import_(tmp_path / "x", "d", keys=keys / "ours.pub").reference == "d@1"
    assert models.import_(tmp_path / "x", "e").reference == "e@1"  # nobody has to look at a signature


def test_keys_of_cryptography_are_taken_as_they_are(store, tmp_path):
    key = ed25519.Ed25519PrivateKey.generate()
    store.export("a", tmp_path / "x", key=key)
    assert store.import_(tmp_path / "x", "c", keys=key.public_key()).reference == "c@1"
    assert store.import_(tmp_path / "x", "d", keys=iter([key.public_key()])).reference == "d@1"


def test_the_signature_is_ed25519s_of_what_the_docs_say(signed, keys):
    """Made again by hand, from the description of the form."""
    import hashlib

    said = json.loads((signed.parent / "x.sig").read_bytes())
    assert said.pop("format") == "cbpe signature 1"
    digest = hashlib.sha256(signed.read_bytes()).hexdigest()
    text = f'{{"format":"cbpe signature 1","name":"a","number":2,"sha256":"{digest}"}}'
    key = serialization.load_pem_private_key((keys / "ours.pem").read_bytes(), None)
    signature = key.sign(b"cbpe exported tokenizer, signature 1\n" + text.encode())
    assert said == {"name": "a", "number": 2, "sha256": digest, "signature": signature.hex()}


def test_the_file_itself_is_the_same_signed_or_not(store, signed, tmp_path):
    store.export("a", tmp_path / "y")
    assert (tmp_path / "y").read_bytes() == signed.read_bytes()
    assert not (tmp_path / "y.sig").exists()


def test_what_is_not_signed_is_refused(store, signed, keys):
    os.unlink(f"{signed}.sig")
    refuse(store, signed, [keys / "ours.pub"], f"{re.escape(str(signed))} is not signed: there is no ")


def test_what_another_key_signed_is_refused(store, signed, keys):
    refuse(store, signed, keys / "theirs.pub", "x is not signed by any of the keys")


def test_what_was_altered_is_refused(store, signed, keys):
    data = signed.read_bytes()
    for position in (0, 8, 40, len(data) // 2, len(data) - 1):
        changed = bytearray(data)
        changed[position] ^= 4
        signed.write_bytes(changed)
        refuse(store, signed, keys / "ours.pub", "x is not the file that was signed")
    signed.write_bytes(data[:-1])
    refuse(store, signed, keys / "ours.pub", "x is not the file that was signed")


def test_a_whole_file_of_another_version_is_refused(store, signed, keys, tmp_path):
    store.export("a@1", tmp_path / "y")
    os.replace(tmp_path / "y", signed)
    refuse(store, signed, keys / "ours.pub", "x is not the file that was signed")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "b", "not signed by any of the keys"),
        ("number", 3, "not signed by any of the keys"),
        ("sha256", "0" * 64, "not the file that was signed"),
        ("signature", "0" * 128, "not signed by any of the keys"),
        ("signature", "0" * 126, "not 128 and 64 hexadecimal"),
        ("signature", "\u0660" * 128, "not 128 and 64 hexadecimal"),
        ("sha256", "A" * 64, "not 128 and 64 hexadecimal"),
        ("format", "cbpe signature 2", "knows 'cbpe signature 1'"),
        ("number", True, "no object of"),
        ("number", 2.0, "no object of"),
        ("name", None, "no object of"),
        ("more", 1, "no object of"),
    ],
)
def test_an_altered_signature_is_refused(store, signed, keys, field, value, message):
    beside = signed.parent / "x.sig"
    beside.write_text(json.dumps({**json.loads(beside.read_bytes()), field: value}))
    refuse(store, signed, keys / "ours.pub", message)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"{", b"\xff", b"[" * 16_000, b"1" * 10_000, b" " * 20_000, b'{"format": NaN}']
)
def test_what_is_no_signature_is_refused(store, signed, keys, data):
    (signed.parent / "x.sig").write_bytes(data)
    refuse(store, signed, keys / "ours.pub", r"x\.sig is no signature")


def test_a_signature_of_another_name_with_its_file_is_refused(store, keys, tmp_path):
    """Signed rightly, but not by export: the signature says another name than the file."""
    import hashlib

    from store.sharing.signatures import Signed, signature_file

    store.export("a", tmp_path / "x")
    key = serialization.load_pem_private_key((keys / "ours.pem").read_bytes(), None)
    digest = hashlib.sha256((tmp_path / "x").read_bytes()).hexdigest()
    (tmp_path / "x.sig").write_bytes(signature_file(key, Signed("b", 2, digest)))
    refuse(store, tmp_path / "x", keys / "ours.pub", "says that it is 'a', and its signature that it is 'b'")


def test_what_is_signed_and_no_export_is_damaged(store, keys, tmp_path):
    import hashlib

    from store.sharing.signatures import Signed, signature_file

    key = serialization.load_pem_private_key((keys / "ours.pem").read_bytes(), None)
    (tmp_path / "x").write_bytes(b"anything")
    signature = signature_file(key, Signed("a", 1, hashlib.sha256(b"anything").hexdigest()))
    (tmp_path / "x.sig").write_bytes(signature)
    refuse(store, tmp_path / "x", keys / "ours.pub", "no exported tokenizer", Damaged)


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        ("none.pub", FileNotFoundError, "none.pub"),
        ("none.pem", ValueError, "holds no public key in PEM form"),
        ("long.pem", ValueError, "is no PEM file of a key"),
        ("ours.pem", ValueError, "holds a private key, and who verifies has no need of it"),
        ("ec.pub", ValueError, "is no ed25519 key, but "),
    ],
)
def test_what_is_no_public_key_is_refused(store, signed, keys, key, error, message):
    refuse(store, signed, [keys / "ours.pub", keys / key], message, error)


def test_no_key_at_all_is_an_error(store, signed):
    """An empty list verifies nothing, which hardly anybody means."""
    refuse(store, signed, [], "no key is given", ValueError)
    refuse(store, signed, [7], "not int", TypeError)
    refuse(store, signed, 7, "not int", TypeError)


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        ("ours.pub", ValueError, "holds no private key"),
        ("none.pem", ValueError, "holds no private key"),
        ("locked.pem", ValueError, "has a password"),
        ("ec.pem", ValueError, "is no ed25519 key"),
        (7, TypeError, "not int"),
    ],
)
def test_what_is_no_private_key_signs_nothing(store, keys, tmp_path, key, error, message):
    with pytest.raises(error, match=message):
        store.export("a", tmp_path / "x", key=keys / key if isinstance(key, str) else key)
    assert not (tmp_path / "x").exists()


def test_a_signature_does_not_replace_a_store(keys, tmp_path):
    with ModelStore(tmp_path / "x.sig") as models:
        models.save(TOK, "a")
        with pytest.raises(Refused, match="is the store itself"):
            models.export("a", tmp_path / "x", key=keys / "ours.pem")
        assert models.load("a").merges == TOK.merges


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here")
def test_keys_that_openssl_makes_do(store, tmp_path):
    private, public = tmp_path / "private.pem", tmp_path / "public.pem"
    made = ["openssl", "genpkey", "-algorithm", "ed25519", "-out", private]
    subprocess.run(made, check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True, capture_output=True)
    store.export("a", tmp_path / "x", key=private)
    assert store.import_(tmp_path / "x", "c", keys=[public]).reference == "c@1"


def test_the_command_line_signs_and_verifies(store, keys, tmp_path):
    def run(*arguments):
        command = [*PROGRAM_OF_TESTS, "models", *map(str, arguments), "--store", str(tmp_path / "models.db")]
        return subprocess.run(command, capture_output=True, text=True)

    assert run("export", "a", tmp_path / "x", "--key", keys / "ours.pem").returncode == 0
    names = ("--name", "c", "--key", keys / "theirs.pub")
    refused = run("import", tmp_path / "x", *names)
    assert refused.returncode == 1
    assert "is not signed by any of the keys" in refused.stderr
    assert run("import", tmp_path / "x", *names, "--key", keys / "ours.pub").returncode == 0
    assert store.version("c").digest == store.version("a").digest


PROGRAM_OF_TESTS = [sys.executable, "-m", "cbpe"]


def test_without_cryptography_it_is_said_what_to_install(store, keys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(ImportError, match=r'pip install "cbpe\[signatures\]"'):
        store.export("a", tmp_path / "x", key=keys / "ours.pem")
    assert not (tmp_path / "x").exists()
