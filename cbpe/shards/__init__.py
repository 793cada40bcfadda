"""A corpus to token shards, the files that training loops read: options, encoding, order, manifest."""
