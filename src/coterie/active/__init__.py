"""Ask the right question: sessions, strategies, oracles and the answer log."""

from coterie.active.annotators import AnnotatorTable
from coterie.active.consolidate import Consolidate, ExploreConsolidate
from coterie.active.explore import Explore
from coterie.active.information import InformationGain
from coterie.active.learning_curve import LearningCurve, learning_curve
from coterie.active.min_max import MinMax
from coterie.active.npu import NPU
from coterie.active.oracles import (
    CallableOracle,
    LabelOracle,
    Reply,
    answer_all,
    answer_all_async,
)
from coterie.active.query import Answer, Query, SetQuery
from coterie.active.random_pairs import RandomPairs
from coterie.active.record_questions import RecordQuestions
from coterie.active.registry import STRATEGIES, make_strategy, register_strategy
from coterie.active.row_ids import RowChanges
from coterie.active.session import ActiveSession
from coterie.active.store import AnswerStore
from coterie.active.strategy import Context, Planner, Strategy

__all__ = [
    "NPU",
    "STRATEGIES",
    "ActiveSession",
    "AnnotatorTable",
    "Answer",
    "AnswerStore",
    "CallableOracle",
    "Consolidate",
    "Context",
    "Explore",
    "ExploreConsolidate",
    "InformationGain",
    "LabelOracle",
    "LearningCurve",
    "MinMax",
    "Planner",
    "Query",
    "RandomPairs",
    "RecordQuestions",
    "Reply",
    "RowChanges",
    "SetQuery",
    "Strategy",
    "answer_all",
    "answer_all_async",
    "learning_curve",
    "make_strategy",
    "register_strategy",
]
