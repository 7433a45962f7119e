"""Every number of Mosaic that can change a result, and why it is what it is."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Tuning"]


class Tuning(NamedTuple):
    """The numbers inside Mosaic; `benchmarks/mosaic_tuning.py` halves and doubles each of them.

    Parameters of `Mosaic` are not here, nor are guards against overflow, nor how many rows are
    handled at once.
    """

    # -- space ---------------------------------------------------------------------------------
    # Columns up to which principal components come from the covariance; wider rows are projected
    # by a randomised SVD, as a covariance of theirs would not fit in memory.
    widest_covariance: int = 4096

    # -- field ---------------------------------------------------------------------------------
    # The kernel is 1 / (1 + steepness · distance²), distances in units of the typical one: how
    # quickly the clusters may change from place to place.
    steepness: float = 2.0
    # Prototypes: this many times sqrt(n), ...
    prototypes_per_root: float = 8.0
    # ... but no fewer than the pilot has, on which spaces and starts are tried, ...
    pilot_prototypes: int = 300
    # ... and no more than this: the work of a fit grows with their square.
    most_prototypes: int = 1000
    # Numbers among the features (1 GB): beyond, prototypes become fewer as rows become more.
    most_features: int = 1 << 28
    # Rows per prototype that place the prototypes, and K-Means steps taken with them.
    rows_per_prototype: int = 20
    placing_steps: int = 5
    # Multiplications up to which leverages are exact; beyond, a random sketch of this width.
    exact_leverage: float = 1e10
    leverage_sketch: int = 128
    # Weight of a row in no pair, beside 1: what it believes is an echo of the field.
    free_weight: float = 0.2

    # -- evidence ------------------------------------------------------------------------------
    # Noise rate to begin with. Trust first: a high rate explains wrong clusters away, and they
    # stay.
    first_noise: float = 0.01
    # Pairs' worth of belief in that rate when the rate is estimated.
    prior_pairs: float = 4.0
    # Nats: among beliefs, a hard pair is a pair of this strength.
    hard_strength: float = 20.0
    # Pairs of one kind alone vote as if this share were of the other: they are what there is.
    other_kind: float = 0.02

    # -- starts --------------------------------------------------------------------------------
    # How far around it a pair speaks, as the penalty (in rows) of a field that changes.
    reaches: tuple[float, ...] = (10.0, 100.0, 1000.0)
    # K-Means starts when prototypes are joined.
    joining_starts: int = 5
    # Most clusters looked for when their number is not given, and draws of shuffled pairs that
    # directions must beat.
    most_clusters: int = 100
    shuffles: int = 3
    # Share of its first belief that a row gives to the cluster it starts in.
    first_belief: float = 0.7
    first_sharpness: float = 5.0

    # -- beliefs -------------------------------------------------------------------------------
    # Sweeps along the pairs a round; messages are kept from round to round.
    sweeps: int = 4
    # A node whose posterior has changed by less has nothing to say.
    silence: float = 1e-3
    # Messages (numbers) up to which beliefs are propagated; beyond, pairs are so many that mean
    # field is as good.
    most_messages: int = 20_000_000
    # Rounds at the first noise rate, when errors of the start could raise it.
    trusting_rounds: int = 5
    # Rounds without a better score after which a run ends.
    patience: int = 5
    # Messages are sent again when the strength of pairs has changed by a larger share.
    same_strength: float = 0.05
    # Steps of the last estimate of the noise rate.
    noise_steps: int = 3
    # Range of the sharpness, nats per unit of the field.
    least_sharpness: float = 0.1
    most_sharpness: float = 50.0

    # -- trust ---------------------------------------------------------------------------------
    # Pairs a row from which pairs check one another; from 25 the rate that beliefs end with was
    # within .02 on average.
    many_pairs: float = 50.0
    # Noise rates tried beyond the first, while they do better.
    ladder: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3)
    folds: int = 3
    # Rounds to form beliefs without a fold: they grow slowly from pairs that say little.
    fold_rounds: int = 8
    # Pairs and rows that decide, where there are more: enough for a rate.
    deciding_pairs: int = 5_000
    deciding_rows: int = 10_000
    # Free rows for each row in pairs, where not all take part, and rows that always do.
    company: int = 2
    fewest_rows: int = 2_000

    # -- search --------------------------------------------------------------------------------
    # Rounds of a race between starts, after which only the best go on; and how many of them are
    # made again with all prototypes.
    race_rounds: int = 3
    finalists: int = 2
    # Rounds after which two spaces are compared.
    pilot_rounds: int = 10

    # -- blobs and finish ----------------------------------------------------------------------
    # K-Means starts over the prototypes, and steps over all rows after them.
    blob_starts: int = 10
    blob_steps: int = 20
    # Sharpness of a blob's field to begin with, and the largest.
    blob_sharpness: float = 8.0
    most_blob_sharpness: float = 1024.0
    # Rounds of the hard stage.
    finish_rounds: int = 20
