"""What messages of Python say of arguments, said of the options of the command line."""

from __future__ import annotations

import re

__all__ = ["IN_OPTIONS", "OPTIONS", "of_options"]

# Phrases of messages, whatever stands around them.
IN_OPTIONS = {
    "for that format, load the version, and tok.save(path)": "cbpe convert REF FILE writes that format",
    "count again with a lower min_count": "count again with a lower --min-count",
    "but max_tokens leaves": "but --max-tokens leaves",
    "set errors to 'replace'": "give --errors replace",
    "cut_documents is True": "--cut-documents is given",
    "cbpe.from_transformers takes them over from": "in Python, cbpe.from_transformers takes them over from",
    "set shard_tokens or row_tokens": "give --shard-tokens or --row-tokens",
    'set field to its name, such as "text"': "name it, as --field text",
    "set field to the name of their texts, to read these": "give --format jsonl, and --field NAME, to read their texts",
    "set field to a name": "name a field, as --field text",
    "set pattern to it": "give it as --pattern",
    "set pattern to what it was": "give --pattern as it was then",
    "take https, or cbpe.load(URL, allow_http=True)": (
        "give an https:// URL, which is fetched from anywhere; one with http:// is fetched from this machine alone"
    ),
    "or set force": "or give --force",
    "cbpe.train takes it, and count_corpus": "cbpe train takes it, and cbpe count-words",
    "or delete all by delete_name": "or give --all",
    "takes no unsigned one: set key": "takes no unsigned one: give --key",
    "set key to sign it": "sign it by --key",
    "give the copy a name of its own": "give the copy another --name",
    "which verify() lists": "which cbpe models verify lists",
    "set task_bytes to what it was": "give --task-bytes as it was then",
    "name a file for the backup": "give --backup FILE for the backup",
    "holds this run already: resume it": "holds this run already: go on with --resume",
    "save it in one by ModelStore.import_(path), and load it from there": (
        "cbpe models import FILE saves it in yours, under whose name -t takes it then"
    ),
    "one that cbpe.load reads is saved by ModelStore.save(cbpe.load(path), name)": (
        "cbpe models save NAME -t FILE saves a tokenizer from a file of another kind"
    ),
    "such as those of cbpe.patterns": "such as --pattern gpt4",
    "load(path, pattern=..., special_tokens={...}); cbpe.patterns has those in common use, and": (
        "cbpe convert FILE NEW.json --pattern gpt4 does; --pattern"
    ),
    "load(path, special_tokens={...})": "cbpe convert FILE NEW.json --special TOKEN=ID does",
    "pattern, special_tokens and name are for files without": "--pattern and --special are for files without",
    'alphabet="characters"': "--alphabet characters",
    "these WordCounts were": "this file of word counts was",
    "these WordCounts are counted": "a file of word counts has them",
    "leave the pattern out": "leave --pattern and --no-split out",
    "leave initial out": "leave --initial out",
    "leave checkpoint out": "leave --checkpoint out",
    "over characters: leave it out": "over characters: leave --checkpoint out",
    "of this tokenizer, which are not 256 + merge: leave it out": (
        "of this tokenizer, which are not 256 + merge: leave --checkpoint out"
    ),
    "open it as such, and load a version by its name": "give it as --store, and name a version",
    "open that by ModelStore(path), and copy from it": "give it as --store, and copy from it by cbpe models copy",
    "keys are for a version in a published copy, and this is none": (
        "--key takes tokenizers of published copies alone, and this is none"
    ),
    "a named encoding, which cbpe.get_encoding gives": "a named encoding, which -t takes",
    "ModelStore.save(cbpe.load(path), name) gives it": "cbpe models save NAME -t FILE gives it",
    "ModelStore.save(cbpe.load(reference), name) keeps it": "cbpe models save NAME -t REFERENCE keeps it",
    "add one by register_special_tokens": "add one by cbpe convert FILE NEW.json --special TOKEN",
    'here encode does so with allowed_special="none"': (
        "so does encode here without --allowed-special, and in Python with allowed_special='none'"
    ),
    "side is 'left', for which": "--side is left, for which",
    "Cut the text by split, or keep the last of its ids": "Cut the text by cbpe split, or keep the last of its ids",
    "set field, to read the texts in it": "give --field NAME, to read the texts in it",
    "append_eot is False": "--no-append-eot is given",
    "set append_eot to False": "give --no-append-eot",
    "cut_documents is False": "--whole-documents is given",
    "name one as eot_token": "name one by --eot-token",
    "make task_bytes": "make --task-bytes",
    "a smaller task_bytes": "a smaller --task-bytes",
    "times task_bytes": "times --task-bytes",
    "as task_bytes is": "as --task-bytes is",
    "make shard_tokens": "make --shard-tokens",
    "make row_tokens": "make --row-tokens",
    "make val_fraction": "make --val-fraction",
    "or set missing to 'skip'": "or give --missing skip",
    "or set cut_documents, in a new folder": "or give --cut-documents, in a new folder",
    "or set cut_documents, and resume": "or give --cut-documents, and go on with --resume",
    "is no multiple of row_tokens": "is no multiple of --row-tokens",
    "columns are kept by format": "--column is for format",
    "columns belong to documents, and row_tokens": "--column keeps what belongs to documents, and --row-tokens",
    "verify is for the call that finishes": "--verify is for the command that finishes",
    "leave it out beside task": "leave it out beside --task",
    "give each a share (task)": "give each a share by --task",
    "input_ids are the tokens; columns are": "input_ids are the tokens; --column names",
}
# Arguments that messages name at their beginning, or with a number or as advice at their end, and their options.
OPTIONS = {
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "alphabet", "vocab_size", "tie_break", "checkpoint", "min_count", "max_token_length", "max_words", "field",
            "errors", "missing", "character_coverage", "required_characters", "split_digits", "format", "append_eot",
            "eot_token", "dtype", "shuffle", "val_fraction", "shard_tokens", "row_tokens", "cut_documents", "executor",
            "workers", "task_bytes", "partitions", "alpha", "order", "semantics", "since", "keep_empty",
            "pattern", "counts", "max_tokens", "overlap",
        )
    },
    "byte_fallback": "--no-byte-fallback",
    "split_by_script": "--mix-scripts",
    "split_by_number": "--mix-numbers",
    "add_dummy_prefix": "--no-dummy-prefix",
    "columns": "--column",
    "split": "--split",
}  # fmt: skip
NAME = f"({'|'.join(OPTIONS)})"
# "vocab_size is 3", "field is for counting words", "required_characters has U+0000"; "a file is no model" is none.
# Bytes as Python writes them: here tokens stand in quotes alone.
BYTES = re.compile(r"""(?<![^\s(\[{:,])b('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
IS = re.compile(rf"^{NAME}(?= is (?:for |['\"\d-]|(?:inf|nan|True|False|None)\b)| has U\+| leaves \d)")
EQUALS = re.compile(rf"(?<= ){NAME}(?= = ['\d])")  # "no pair occurs min_count = 10 times"
CHANGED = re.compile(rf"(?<= its options \(){NAME}(?=\) are )")  # of a run that was interrupted
ADVICE = re.compile(rf"(?<=, or lower |, or raise ){NAME}$")


def of_options(message: str) -> str:
    """A message of Python as one that names options: "vocab_size is 3" -> "--vocab-size is 3"."""
    message = BYTES.sub(r"\1", message)
    for of_python, of_the_program in IN_OPTIONS.items():
        message = message.replace(of_python, of_the_program)
    for form in (IS, EQUALS, CHANGED, ADVICE):
        message = form.sub(lambda found: OPTIONS[found[1]], message)
    return message
