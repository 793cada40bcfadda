"""The most that a store keeps of each thing: enough for anything useful, and so little that a file from elsewhere
cannot use up a machine's memory."""

MAX_NAME = 255  # characters of a name, an alias, a tag or a metric
MAX_TAG_VALUE = 10_000  # bytes in UTF-8
MAX_LABELS = 1000  # tags, aliases or metrics that are given at once
MAX_NUMBER = 2**31 - 1  # of a version
MAX_NOTES_BYTES = 1 << 24  # in UTF-8
MAX_JSON_BYTES = 1 << 21  # of a canonical form, or another part of a file: memory takes up to 24 times as much
MAX_PATTERN = 1 << 16  # characters of a split pattern: what it is compiled to may take some hundred times as much
MAX_PACKED_BYTES = 6 << 20  # of a packed vocabulary: 786,000 merges
MAX_TOKEN_BYTES = 1 << 24  # of all tokens of a vocabulary together
MAX_TRAINING_BYTES = 1 << 24  # of one of the two arrays in a training record: 8 for each merge
