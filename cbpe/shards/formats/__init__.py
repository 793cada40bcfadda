"""The formats of token shards, one file each: what a shard's files hold, and which tokens they can."""
