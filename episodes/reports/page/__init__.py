"""Pages that show runs: each one file, without network, the same from a disk and from a server."""
