"""Bytes that find new ways through the readers (atheris), for so many seconds from a seed.

    python tests/fuzz/bytes_fuzz.py SECONDS SEED

The first byte chooses the ending, the others are the file. A finding ends the process by an error
that is no `CoterieError`; libFuzzer writes its bytes to `crash-*` in the current folder.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

with atheris.instrument_imports(include=["coterie.tables", "coterie.constraints"]):
    from coterie.exceptions import CoterieError
    from coterie.tables import read_table

from mutations import ENDINGS, table_bytes  # noqa: E402


def main() -> None:
    seconds, seed = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, ending in enumerate(ENDINGS):
            (corpus / ending).write_bytes(bytes([number]) + table_bytes(ending))

        def read(data: bytes) -> None:
            if data:
                file = folder / f"rows.{ENDINGS[data[0] % len(ENDINGS)]}"
                file.write_bytes(data[1:])
                with suppress(CoterieError):
                    read_table(file)

        limits = [f"-max_total_time={seconds}", f"-seed={seed}", "-max_len=8192", "-timeout=60"]
        atheris.Setup([sys.argv[0], *limits, "-print_final_stats=1", str(corpus)], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
