"""The classes that people meet, how they are put together, loaded, saved and described."""
