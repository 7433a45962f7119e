"""`python -m coterie`, and what the command `coterie` starts."""

import os

__all__ = ["run"]


def run() -> None:
    """The command line; Ctrl-C while it is loaded ends it without a traceback."""
    try:
        from coterie.cli.main import main
    except KeyboardInterrupt:
        os._exit(130)  # nothing was begun
    main(prog_name="coterie")


if __name__ == "__main__":
    run()
