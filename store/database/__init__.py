"""The database of a store: where it is, how it is opened and migrated, and its tables."""
