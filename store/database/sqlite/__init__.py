"""SQLite: the file at a path, connections to it, and making a new one."""
