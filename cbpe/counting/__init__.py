"""Word counts of a corpus of any size: tasks count apart, partitions are added up, and all are put in order again."""
