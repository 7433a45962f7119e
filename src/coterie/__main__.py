"""`python -m coterie`: the command line where `coterie` is not in the path."""

from coterie.cli.main import main

if __name__ == "__main__":
    main(prog_name="coterie")
