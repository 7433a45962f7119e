"""Splink 5 (DuckDB) on records and candidate pairs that `records.py splink` wrote; one line.

    /path/to/venv/bin/python benchmarks/records_splink.py people.csv

The file has the columns of `record_sets.people`, `unique_id`, `entity` (the truth) and `cand`, the
numbers of the candidate pairs a record is in. Splink compares records that share such a number:
just these pairs. It needs only Splink, so that it can stand in an environment of its own.
"""

from __future__ import annotations

import resource
import sys
import time

import duckdb
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

SCORES = """
with sized as (
    select l.cluster_id as c, r.entity as e, count(*) as n
    from clusters l join people r on l.unique_id = r.unique_id group by 1, 2
), joined as (select sum(n) as n from sized group by c), actual as (
    select sum(n) as n from sized group by e)
select (select sum(n * (n - 1)) from sized) * 2.0
    / ((select sum(n * (n - 1)) from joined) + (select sum(n * (n - 1)) from actual))
"""


def main(path: str) -> None:
    """Train without answers, predict, cluster; print seconds, memory and F1."""
    connection = duckdb.connect()
    connection.execute("set memory_limit = '8GB'; set threads = 2").fetchall()
    connection.execute(
        "create table people as select * exclude (cand), string_split(cand, ';') as cand "
        f"from read_csv('{path}', all_varchar = true, nullstr = '')"
    ).fetchall()
    n = connection.execute("select count(*) from people").fetchall()[0][0]
    begun, used = time.perf_counter(), time.process_time()
    comparisons = [
        cl.JaroWinklerAtThresholds("given", [0.9, 0.7]).configure(term_frequency_adjustments=True),
        cl.JaroWinklerAtThresholds("surname", [0.9, 0.7]).configure(
            term_frequency_adjustments=True
        ),
        cl.JaroWinklerAtThresholds("street", [0.9, 0.7]),
        cl.JaroWinklerAtThresholds("town", [0.9]).configure(term_frequency_adjustments=True),
        cl.DamerauLevenshteinAtThresholds("born", [1, 2]),
        cl.DamerauLevenshteinAtThresholds("phone", [1, 2]),
    ]
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=[block_on("cand", arrays_to_explode=["cand"])],
        probability_two_random_records_match=1.0 / n,
    )
    api = DuckDBAPI(connection)
    linker = Linker(api.register("people"), settings, log_level="ERROR")
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=0)
    for rule in (block_on("phone"), block_on("surname", "given")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    found = linker.inference.predict(threshold_match_probability=0.5)
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(
        found, threshold_match_probability=0.5
    )
    elapsed, used = time.perf_counter() - begun, time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    connection.execute(
        f"create table clusters as select * from {clusters.physical_name}"
    ).fetchall()
    f1 = connection.execute(SCORES).fetchall()[0][0]
    print(
        f"{n:>9} records  {elapsed:7.1f} s  {used:7.1f} s CPU  {memory:5.2f} GB  "
        f"Splink, candidates given  F1 {f1:.4f}",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1])
