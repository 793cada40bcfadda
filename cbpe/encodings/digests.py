"""SHA-256 of published files that hold the vocabularies of the named encodings."""

from __future__ import annotations

__all__ = ["GPT2_BPE_SHA256", "GPT2_ENCODER_SHA256", "PUBLISHED", "SHA256"]

# Of tiktoken's files, by the name of the vocabulary.
SHA256 = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}

# Of GPT-2's own files, which hold the vocabulary of r50k_base in another form.
GPT2_ENCODER_SHA256 = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
GPT2_BPE_SHA256 = "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"

# Files that hold no split pattern: the digest of each, and the encoding that it is of.
PUBLISHED = {
    **{digest: name for name, digest in SHA256.items()},
    "72c44782644dccc955e1b775d0d7552a594bbb54bfc6141e31373324d486956d": "gpt2",  # llm.c's of version 1
    "6f3abc21e444e4e8300e225f4e03da48ea121cf17e30f67009b8dad7a66c2f13": "gpt2",  # and of version 2
}
