"""The memory's store: the only process that opens memory.db and its Chroma."""
