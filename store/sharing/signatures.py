"""Signatures of exported files: ed25519, in a file of its own beside the exported one, which is FILE.sig for FILE.

The file of a signature is a JSON object in ASCII:

    format       "cbpe signature 1"
    name         of the version that was exported
    number       of that version
    sha256       of the whole exported file, in hexadecimal
    signature    128 hexadecimal digits

What is signed is the text PREFIX, and after it the same object without its signature, its keys in order and no spaces
between. Nobody else signs what begins with PREFIX, so that no signature of something else passes for one of these.

The library `cryptography` reads the keys, signs and verifies. It is imported where a key is given.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from cbpe.common.warning import warn
from store import moving
from store.database.opening import Database
from store.errors import BadSignature, Damaged, Refused
from store.moving import ENDING_OF_SIGNATURES as ENDING
from store.records.export import Carried, bytes_of_file, read_bytes
from store.records.references import shown
from store.records.versions import Version

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    PrivateKey = str | os.PathLike[str] | Ed25519PrivateKey
    PublicKey = str | os.PathLike[str] | Ed25519PublicKey

__all__ = ["export", "is_signed_by", "private_key", "public_keys", "read_signed"]

FORMAT = "cbpe signature 1"
PREFIX = b"cbpe exported tokenizer, signature 1\n"
MAX_SIGNATURE_BYTES = 16 << 10  # of its file; a name takes up to 3 KB there
MAX_KEY_BYTES = 64 << 10
FIELDS = {"format": str, "name": str, "number": int, "sha256": str, "signature": str}


class Signed(NamedTuple):
    """What a signature is about."""

    name: str
    number: int
    sha256: str  # of the exported file

    def message(self) -> bytes:
        """The bytes that are signed."""
        return PREFIX + json.dumps(self.fields(), sort_keys=True, separators=(",", ":")).encode("ascii")

    def fields(self) -> dict[str, Any]:
        return {"format": FORMAT, **self._asdict()}


def export(
    database: Database, reference: str | Version, path: str | os.PathLike[str], key: PrivateKey | None
) -> Version:
    """Write a version to a file, and if a key is given, its signature beside it."""
    if key is None:
        version = moving.export(database, reference, path)
        warn_of_older_signature(os.fsdecode(path))
        return version
    signing = private_key(key)

    def sign(version: Version, sha256: str) -> bytes:
        return signature_file(signing, Signed(version.name, version.number, sha256))

    return moving.export(database, reference, path, sign, refuse_replacing)


def refuse_replacing(path: str) -> None:
    """Refused for a file that a signature would destroy: one that holds something else."""
    if not os.path.isfile(path) or os.path.getsize(path) == 0:
        return  # what is there and no file, whoever writes refuses
    try:
        read_signature(path, small_file(path, MAX_SIGNATURE_BYTES))
    except BadSignature as error:
        raise Refused(
            f"{path} is there already, and is no signature that another could replace: name another file, or remove it"
        ) from error


def warn_of_older_signature(path: str) -> None:
    """A warning where the file beside an exported one is no signature of what is in it."""
    beside = path + ENDING
    if not os.path.lexists(beside):
        return
    with suppress(BadSignature, OSError):
        signed, _ = read_signature(beside, small_file(beside, MAX_SIGNATURE_BYTES))
        if signed.sha256 == hashlib.sha256(bytes_of_file(path)).hexdigest():
            return
    warn(f"{beside} is a signature of what {path} was before, not of this: set key to sign it, or delete {beside}")


def read_signed(path: str | os.PathLike[str], keys: PublicKey | Iterable[PublicKey]) -> tuple[Carried, str]:
    """What a file carries that is signed by one of the keys, and where it comes from, in words. What is read is what
    was verified: the file is read once. Raises as moving.read does, and BadSignature."""
    trusted = public_keys(keys)
    path = os.fsdecode(path)
    try:
        data = bytes_of_file(path)
        signed = verified(path, hashlib.sha256(data).hexdigest(), trusted)
        carried = read_bytes(data)
    except BadSignature:
        raise
    except ValueError as error:
        raise Damaged(f"{path}: {error}") from error
    name = carried.about.get("name")
    if signed.name != name:
        raise BadSignature(f"{path} says that it is {name!r:.100}, and its signature that it is {shown(signed.name)}")
    return carried, f"{path}, signed as {signed.name}@{signed.number}"


# ---- Keys


def private_key(key: PrivateKey) -> Ed25519PrivateKey:
    """The private key that is given, or stands in a PEM file without a password. Raises TypeError or ValueError for
    what is none, and OSError."""
    ed25519, serialization = library()
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return cast("Ed25519PrivateKey", key)
    path, data = key_file(key, "a private key")
    try:
        loaded = serialization.load_pem_private_key(data, password=None)
    except TypeError as error:  # what cryptography raises for a key with a password
        raise ValueError(
            f"the key in {path} has a password: load it with cryptography, and give the Ed25519PrivateKey"
        ) from error
    except Exception as error:  # also UnsupportedAlgorithm, which is no ValueError
        raise ValueError(f"{path} holds no private key in PEM form: {error!s:.200}") from error
    if not isinstance(loaded, ed25519.Ed25519PrivateKey):
        raise ValueError(f"the key in {path} is no ed25519 key, but {type(loaded).__name__.lstrip('_')}")
    return cast("Ed25519PrivateKey", loaded)


def public_keys(keys: PublicKey | Iterable[PublicKey]) -> list[Ed25519PublicKey]:
    """The public keys that are given, or stand in PEM files. Raises TypeError or ValueError for what is none, and where
    there is none at all; and OSError."""
    ed25519, _ = library()
    given: Any = keys
    if isinstance(given, (str, os.PathLike, ed25519.Ed25519PublicKey)):
        given = [given]
    if not isinstance(given, Iterable):
        raise TypeError(f"keys are a list of files or Ed25519PublicKeys, not {type(given).__name__}")
    found = [public_key(key) for key in given]
    if not found:
        raise ValueError("no key is given to verify a signature by: give one, or None to verify no signature")
    return found


def public_key(key: PublicKey) -> Ed25519PublicKey:
    ed25519, serialization = library()
    if isinstance(key, ed25519.Ed25519PublicKey):
        return cast("Ed25519PublicKey", key)
    path, data = key_file(key, "a public key")
    if b"PRIVATE KEY-----" in data:
        raise ValueError(
            f"{path} holds a private key, and who verifies has no need of it: give the public one, as "
            "openssl pkey -pubout writes it"
        )
    try:
        loaded = serialization.load_pem_public_key(data)
    except Exception as error:  # also UnsupportedAlgorithm, which is no ValueError
        raise ValueError(f"{path} holds no public key in PEM form: {error!s:.200}") from error
    if not isinstance(loaded, ed25519.Ed25519PublicKey):
        raise ValueError(f"the key in {path} is no ed25519 key, but {type(loaded).__name__.lstrip('_')}")
    return cast("Ed25519PublicKey", loaded)


def key_file(path: Any, what: str) -> tuple[str, bytes]:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{what} is a PEM file, or an ed25519 key of cryptography, not {type(path).__name__}")
    data = small_file(path, MAX_KEY_BYTES)
    if data is None:
        raise ValueError(
            f"{os.fspath(path)} is no PEM file of a key: it is no file, or has more than {MAX_KEY_BYTES} bytes"
        )
    return os.fsdecode(path), data


def small_file(path: str | os.PathLike[str], most: int) -> bytes | None:
    """The bytes of a file; None if it is a pipe or a device, or has more than `most` bytes."""
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):  # reading a pipe would wait
        return None
    with open(path, "rb") as file:
        data = file.read(most + 1)
    return data if len(data) <= most else None


def library() -> tuple[Any, Any]:
    """The two modules of cryptography. Raises ImportError that says what to install."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'signatures need the library cryptography: pip install "cbpe[signatures]"', name=error.name
        ) from error
    return ed25519, serialization


# ---- Signatures


def signature_file(key: Ed25519PrivateKey, signed: Signed) -> bytes:
    """What stands in the file of a signature."""
    fields = {**signed.fields(), "signature": key.sign(signed.message()).hex()}
    return json.dumps(fields, indent=1).encode("ascii") + b"\n"


def verified(path: str, sha256: str, keys: Iterable[Ed25519PublicKey]) -> Signed:
    """What is signed of an exported file. sha256: that of its bytes. Raises BadSignature, which names the file, if it
    has no signature, or none of it by one of the keys."""
    try:
        data = small_file(path + ENDING, MAX_SIGNATURE_BYTES)
    except FileNotFoundError as error:
        raise BadSignature(f"{path} is not signed: there is no {path + ENDING}") from error
    signed, signature = read_signature(path + ENDING, data)
    if signed.sha256 != sha256:
        raise BadSignature(f"{path} is not the file that was signed: its SHA-256 is {sha256}, and {signed.sha256} was")
    if not any(is_signed_by(key, signature, signed.message()) for key in keys):
        raise BadSignature(
            f"{path} is not signed by any of the keys that are given: {path + ENDING} was altered, or is another key's"
        )
    return signed


def read_signature(path: str, data: bytes | None) -> tuple[Signed, bytes]:
    """What the file of a signature says, which is not verified yet."""
    if data is None:
        raise BadSignature(f"{path} is no signature: it is no file, or has more than {MAX_SIGNATURE_BYTES} bytes")
    try:
        fields = json.loads(data.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise BadSignature(f"{path} is no signature: {error!s:.200}") from error
    if not isinstance(fields, dict) or {key: type(value) for key, value in fields.items()} != FIELDS:
        raise BadSignature(f"{path} is no signature: it is no object of {', '.join(FIELDS)}")
    if fields["format"] != FORMAT:
        raise BadSignature(f"{path} is a {shown(fields['format'])}, and this version of cbpe knows {FORMAT!r}")
    if not re.fullmatch("[0-9a-f]{128}", fields["signature"]) or not re.fullmatch("[0-9a-f]{64}", fields["sha256"]):
        raise BadSignature(f"{path} is no signature: its digits are not 128 and 64 hexadecimal ones")
    signed = Signed(fields["name"], fields["number"], fields["sha256"])
    return signed, bytes.fromhex(fields["signature"])


def is_signed_by(key: Ed25519PublicKey, signature: bytes, message: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True
