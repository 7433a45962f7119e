"""Records of the same person, place or product: many small clusters, their number unknown."""

from coterie.records.classes import PairClasses
from coterie.records.dossier import Dossier, pose_records
from coterie.records.estimates import expected_precision, expected_recall
from coterie.records.explaining import PairExplanation, explain_levels, odds_in_words
from coterie.records.fields import KINDS, Field, read_fields
from coterie.records.learning import Belief
from coterie.records.problem import RecordProblem, Solution, solve

__all__ = [
    "KINDS",
    "Belief",
    "Dossier",
    "Field",
    "PairClasses",
    "PairExplanation",
    "RecordProblem",
    "Solution",
    "expected_precision",
    "expected_recall",
    "explain_levels",
    "odds_in_words",
    "pose_records",
    "read_fields",
    "solve",
]
