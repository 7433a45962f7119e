"""Tables in files: read them, turn columns into features, keep the recipe with the model.

`read_inputs` does the usual in one call; the parts are here too.
"""

from coterie.tables.bundle import Bundle, how_made, load_bundle, save_bundle
from coterie.tables.doubts import DoubtfulPair, Doubts, doubtful_pairs
from coterie.tables.fitted import Fitted, read_fitted
from coterie.tables.inputs import Inputs, StoredInputs, read_inputs, stream_inputs
from coterie.tables.labelled import labelled, only_ids
from coterie.tables.notes import Note, added
from coterie.tables.pairs import name_conflict, name_pairs, pair_table, read_pairs
from coterie.tables.reading import read_table
from coterie.tables.recipe import Choices, Features, Recipe
from coterie.tables.record_inputs import (
    RecordChoices,
    RecordInputs,
    looks_like_records,
    read_records,
    row_marks,
)
from coterie.tables.records import Records, choose_fields, side_by_side
from coterie.tables.results import Results, results_of
from coterie.tables.stored_ids import StoredIds
from coterie.tables.streaming import RecipeRows, StoredTable, open_table
from coterie.tables.table import Column, Table
from coterie.tables.writing import with_results, write_table, write_tables

__all__ = [
    "Bundle",
    "Choices",
    "Column",
    "DoubtfulPair",
    "Doubts",
    "Features",
    "Fitted",
    "Inputs",
    "Note",
    "Recipe",
    "RecipeRows",
    "RecordChoices",
    "RecordInputs",
    "Records",
    "Results",
    "StoredIds",
    "StoredInputs",
    "StoredTable",
    "Table",
    "added",
    "choose_fields",
    "doubtful_pairs",
    "how_made",
    "labelled",
    "load_bundle",
    "looks_like_records",
    "name_conflict",
    "name_pairs",
    "only_ids",
    "open_table",
    "pair_table",
    "read_fitted",
    "read_inputs",
    "read_pairs",
    "read_records",
    "read_table",
    "results_of",
    "row_marks",
    "save_bundle",
    "side_by_side",
    "stream_inputs",
    "with_results",
    "write_table",
    "write_tables",
]
