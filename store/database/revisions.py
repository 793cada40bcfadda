"""The revisions of the schema; apart from the schema itself, which takes SQLAlchemy."""

# Of the schema, all that this version of cbpe knows, the oldest first.
REVISIONS = ("1", "2", "3", "4", "5", "6", "7", "8", "9")
ALIKE = ("7", "8", "9")  # those that have what a version is loaded from in the same columns
VERSION_TABLE = "store_schema"  # where the revision of a store is written down
UNSEALED = "unsealed"  # what is read in place of a seal where a store of an older schema has none
