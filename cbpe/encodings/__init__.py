"""The named encodings: their vocabularies, digests and models, and those of plug-ins."""
