"""Token ids to bytes."""
