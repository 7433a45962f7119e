"""The command line: `coterie`, whose commands wrap the library one to one (see `cli/main.py`)."""

__all__: list[str] = []
