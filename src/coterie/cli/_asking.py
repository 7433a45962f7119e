"""What `coterie ask` and `coterie studio` share: options, and what does not go together."""

from __future__ import annotations

from pathlib import Path

import click

from coterie.cli._options import together
from coterie.exceptions import InvalidParameter

__all__ = ["asking_options", "budget_options", "check_records", "seed_option"]

asking_options = together(
    click.option(
        "--answers",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Log of the answers; made if missing, continued if not.  [default: DATA.answers.db]",
    ),
    click.option(
        "-k",
        "--clusters",
        metavar="K",
        type=click.IntRange(min=1),
        help="Number of clusters, if known.",
    ),
)
budget_options = together(
    click.option(
        "--budget", metavar="N", type=click.IntRange(min=0), help="Most questions to answer."
    ),
    click.option(
        "--error-rate",
        type=click.FloatRange(0, 0.5, max_open=True),
        metavar="RATE",
        help="How often answers are wrong, if known; 0 trusts every answer. For strategies that "
        "weigh answers, as information does.  [default: estimated]",
    ),
)
seed_option = click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), help="For the same questions each time."
)


def check_records(
    records: bool, clusters: int | None, strategy: str | None, exclusive: str | None
) -> None:
    """Refuse options that are for records with others, and the reverse."""
    if records and (clusters is not None or strategy is not None):
        raise InvalidParameter("--records has a strategy of its own: leave -k, --strategy out.")
    if exclusive is not None and not records:
        raise InvalidParameter("--exclusive is for --records; give --records too.")
