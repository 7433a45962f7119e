"""Every number of Mosaic that can change a result, and why it is what it is."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Tuning"]


class Tuning(NamedTuple):
    """The numbers inside Mosaic; `benchmarks/mosaic_tuning.py` halves and doubles each of them.

    Parameters of `Mosaic` are not here, nor are guards (against overflow, flat clusters, rounding),
    priors that are worth one row or pair, how many rows are handled at once and where iterations
    that converge are ended.
    """

    # -- size ----------------------------------------------------------------------------------
    # Prototypes: this many times sqrt(n), ...
    prototypes_per_root: float = 8.0
    # ... but no fewer than the pilot has, on which spaces, noise and starts are tried, ...
    pilot_prototypes: int = 300
    # ... and no more than this: the work of a fit grows with their square.
    most_prototypes: int = 1000
    # Numbers among the features (140 MB, 35,000 rows). Beyond, rows in pairs teach and a sample of
    # the others.
    most_features: int = 35_000_000
    # Rows that the pilots see, on which everything is decided: their field has 300 features.
    pilot_rows: int = 20_000
    # Both are more where each cluster would have fewer rows than this.
    rows_a_cluster: int = 100
    # Numbers of what is held for digits only. Beyond, principal components come from a randomised
    # SVD and not from a covariance, prototypes are placed by a sample of the rows, leverages come
    # from a sketch of the features, and posteriors from mean field and not from messages (pairs
    # are so many then that it is as good).
    most_numbers: int = 20_000_000
    # Columns of that sketch: its relative error is sqrt(2 / 128).
    leverage_sketch: int = 128

    # -- field ---------------------------------------------------------------------------------
    # The kernel is 1 / (1 + steepness · distance²), distances in units of the typical one: how
    # quickly the clusters may change from place to place.
    steepness: float = 2.0
    # Steps of what is done often and need not converge: of the K-Means that places prototypes
    # (random rows alone leave gaps), and along the pairs in a round (messages are kept).
    few_steps: int = 5
    # Weight of a row in no pair, beside 1: what it believes is an echo of the field.
    free_weight: float = 0.2

    # -- starts --------------------------------------------------------------------------------
    # How far around it a pair speaks, as the penalty (in rows) of a field that changes.
    reaches: tuple[float, ...] = (10.0, 100.0, 1000.0)
    # Starts of K-Means, wherever it is used.
    kmeans_starts: int = 10
    # Draws of shuffled pairs that directions must beat when clusters are counted: after one, one
    # count in twelve was too high.
    shuffles: int = 3
    # Share of its first belief that a row gives to the cluster it starts in: none of it for sure,
    # or a wrong start would be confirmed by itself.
    first_belief: float = 0.7

    # -- trust ---------------------------------------------------------------------------------
    # Pairs a row from which pairs check one another; from 25 the rate that beliefs end with was
    # within .02 on average.
    many_pairs: float = 50.0
    # Noise rates: the first to begin with, the others tried while they do better. Trust first: a
    # high rate explains wrong clusters away, and they stay.
    ladder: tuple[float, ...] = (0.01, 0.05, 0.1, 0.2, 0.3)
    # Parts of the pairs that are held out in turn, ...
    folds: int = 3
    # ... or this over their number where pairs are few: what is learned from two thirds of 60
    # pairs says little of what all of them teach.
    spared_pairs: int = 600
    # Pairs that decide, where there are more, and rows of a mixture: enough for a rate.
    deciding_pairs: int = 5_000

    # -- judging -------------------------------------------------------------------------------
    # Confidence that others foretell pairs better than K-Means does, to prefer them: another
    # clustering by position, or shapes learned from pairs.
    clear: float = 0.9

    # -- search --------------------------------------------------------------------------------
    # Rounds of a race between starts, after which only the best go on. Up to here the noise rate
    # is the first one: errors of the start could raise it.
    race_rounds: int = 3
    # Kinds of start that are made again in the other space and with all prototypes: with the best
    # alone, 3,000 rows of MNIST with 600 pairs lost .025 of ARI.
    finalists: int = 2
    # Rounds after which two spaces, or two noise rates, are compared.
    pilot_rounds: int = 10
