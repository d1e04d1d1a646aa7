"""The Python interface: thin over `envs`, `agents`, `episodes` and `eie`; see docs/python.md."""
