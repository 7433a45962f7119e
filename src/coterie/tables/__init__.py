"""Tables in files: read them, turn columns into features, keep the recipe with the model.

`read_inputs` does the usual in one call; the parts are here too.
"""

from coterie.tables.asking import (
    Asking,
    ask_about_records,
    ask_about_rows,
    choose_questions,
    fit_model,
    open_session,
)
from coterie.tables.bundle import Bundle, how_made, load_bundle, save_bundle
from coterie.tables.doubts import DoubtfulPair, Doubts, doubtful_pairs
from coterie.tables.exchange import (
    LABEL_STUDIO,
    FileAnswer,
    read_answers,
    tell_answers,
    write_questions,
)
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
from coterie.tables.record_model import (
    RecordModel,
    is_record_model,
    load_record_model,
    save_record_model,
)
from coterie.tables.record_view import FieldValue, Found, RecordView
from coterie.tables.records import Records, choose_fields, side_by_side
from coterie.tables.results import Results, results_of
from coterie.tables.row_texts import row_contents
from coterie.tables.stored_ids import StoredIds
from coterie.tables.streaming import RecipeRows, StoredTable, open_table
from coterie.tables.table import Column, Table
from coterie.tables.used import columns_used
from coterie.tables.where import kept_rows
from coterie.tables.writing import with_results, write_table, write_tables

__all__ = [
    "LABEL_STUDIO",
    "Asking",
    "Bundle",
    "Choices",
    "Column",
    "DoubtfulPair",
    "Doubts",
    "Features",
    "FieldValue",
    "FileAnswer",
    "Fitted",
    "Found",
    "Inputs",
    "Note",
    "Recipe",
    "RecipeRows",
    "RecordChoices",
    "RecordInputs",
    "RecordModel",
    "RecordView",
    "Records",
    "Results",
    "StoredIds",
    "StoredInputs",
    "StoredTable",
    "Table",
    "added",
    "ask_about_records",
    "ask_about_rows",
    "choose_fields",
    "choose_questions",
    "columns_used",
    "doubtful_pairs",
    "fit_model",
    "how_made",
    "is_record_model",
    "kept_rows",
    "labelled",
    "load_bundle",
    "load_record_model",
    "looks_like_records",
    "name_conflict",
    "name_pairs",
    "only_ids",
    "open_session",
    "open_table",
    "pair_table",
    "read_answers",
    "read_fitted",
    "read_inputs",
    "read_pairs",
    "read_records",
    "read_table",
    "results_of",
    "row_contents",
    "row_marks",
    "save_bundle",
    "save_record_model",
    "side_by_side",
    "stream_inputs",
    "tell_answers",
    "with_results",
    "write_questions",
    "write_table",
    "write_tables",
]
